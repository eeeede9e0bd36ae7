import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RequestRecord } from '../request-record.ts';
import type { DocumentSource, PersistedDocuments } from './persisted-documents.ts';

/** The shortest time between two warnings of one operation and client, in milliseconds. */
const warningIntervalMs = 3_600_000;

/**
 * Creates the function that reports where the document of a request comes from, once its operation was
 * executed. In the mode `audit`, it also warns of those that `only` would refuse. Requests with keys that
 * the backend has not accepted are only logged: anyone can send them. Undefined if it makes no difference.
 */
export function createDocumentReport(
  { mode }: PersistedDocuments,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
) {
  if (mode === 'off' || mode === 'only') return undefined;
  const warnFrom = new Map<string, number>();
  return (record: RequestRecord, source: DocumentSource): void => {
    record.documentSource = source;
    if (!record.key.isAccepted) return;
    const operation = metrics.operationLabel(record.operation?.name);
    const client = metrics.clientLabel(record.clientName);
    metrics.documents.inc({ source, operation, client });
    if (mode === 'allow' || source === 'manifest') return;
    const name = `${operation} ${client}`;
    if (performance.now() < (warnFrom.get(name) ?? 0)) return;
    warnFrom.set(name, performance.now() + warningIntervalMs);
    log.warn({ operation, client }, 'PERSISTED_DOCUMENTS=only would refuse this document');
  };
}
