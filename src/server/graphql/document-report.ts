import type { Reporting } from '../../telemetry/telemetry.ts';
import type { RequestRecord } from '../request-record.ts';
import type { PersistedDocuments } from './persisted-documents.ts';

/**
 * Creates the function that reports where the document of a request comes from, once its operation was
 * executed. With `audit`, it also warns of those that `only` would refuse, once per hour of each operation
 * and client. Requests whose key the backend has not accepted are only logged: anyone can send them.
 */
export function createDocumentReport({ mode }: PersistedDocuments, { log, metrics }: Reporting) {
  if (mode === 'off' || mode === 'only') return undefined;
  const warnFrom = new Map<string, number>();
  return (record: RequestRecord, source: 'manifest' | 'sent'): void => {
    record.documentSource = source;
    if (!record.key.isAccepted) return;
    const operation = metrics.operationLabel(record.operation?.name);
    const client = metrics.clientLabel(record.clientName);
    metrics.documents.inc({ source, operation, client });
    if (mode === 'allow' || source === 'manifest') return;
    const name = `${operation} ${client}`;
    if (performance.now() < (warnFrom.get(name) ?? 0)) return;
    warnFrom.set(name, performance.now() + 3_600_000);
    const shown = {
      operation: record.operation?.name ?? operation,
      client: record.clientName ?? client,
    };
    log.warn(shown, 'PERSISTED_DOCUMENTS=only would refuse this document');
  };
}
