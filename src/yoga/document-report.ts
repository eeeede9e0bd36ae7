import { LRUCache } from 'lru-cache';
import type { RequestRecord } from '../request/request-record.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { PersistedDocuments } from './persisted-documents.ts';

/** The most operations of clients that are remembered, beside which others are warned of again. */
const maxWarned = 5000;

/**
 * Creates the function that reports where the document of a request comes from, once its operation was
 * executed. With `audit`, it also warns of those that `only` would refuse, once per hour of each operation
 * and client. Requests whose key the backend has not accepted are only logged: anyone can send them.
 */
export function createDocumentReport({ mode }: PersistedDocuments, { log, metrics }: Reporting) {
  if (mode === 'off' || mode === 'only') return undefined;
  const warnFrom = new LRUCache<string, number>({ max: maxWarned });
  return (record: RequestRecord, source: 'manifest' | 'sent'): void => {
    record.documentSource = source;
    if (!record.key.isAccepted) return;
    const operation = metrics.operationLabel(record.operation?.name);
    const client = metrics.clientLabel(record.clientName);
    metrics.documents.inc({ source, operation, client });
    if (mode === 'allow' || source === 'manifest') return;
    const shown = {
      operation: record.operation?.name ?? operation,
      client: record.clientName ?? client,
    };
    const name = `${shown.operation} ${shown.client}`;
    if (performance.now() < (warnFrom.get(name) ?? 0)) return;
    warnFrom.set(name, performance.now() + 3_600_000);
    log.warn(shown, 'PERSISTED_DOCUMENTS=only would refuse this document');
  };
}
