import { LRUCache } from 'lru-cache';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { OperationPlugin } from './operation-context.ts';
import type { DocumentFinder } from './persisted-documents.ts';
import type { ResultHooks } from './result-hooks.ts';

/** The most operations of clients that are remembered, beside which others are warned of again. */
const maxWarned = 5000;

/**
 * Registers the document of a request with text and hash once it was executed, and reports where the
 * document comes from. With `audit`, also warns of those that `only` would refuse, once per hour of each operation
 * and client. Requests whose key the backend has not accepted are only logged: anyone can send them.
 */
export function usePersistedDocuments(
  finder: DocumentFinder,
  { log, metrics }: Reporting,
): OperationPlugin {
  const warnFrom = new LRUCache<string, number>({ max: maxWarned });
  const hooks: ResultHooks = {
    onExecuteDone({ args: { contextValue } }) {
      const { scope, report, params } = contextValue;
      finder.register(params, scope.key);
      const source = finder.sourceOf(params);
      report.documentSource = source;
      if (!scope.key.isAccepted) return;
      const operation = metrics.operationLabel(report.operation?.name);
      const client = metrics.clientLabel(report.clientName);
      metrics.documents.inc({ source, operation, client });
      if (finder.mode === 'allow' || source === 'manifest') return;
      const shown = {
        operation: report.operation?.name ?? operation,
        client: report.clientName ?? client,
      };
      const name = `${shown.operation} ${shown.client}`;
      if (performance.now() < (warnFrom.get(name) ?? 0)) return;
      warnFrom.set(name, performance.now() + 3_600_000);
      log.warn(shown, 'PERSISTED_DOCUMENTS=only would refuse this document');
    },
  };
  return { onExecute: () => hooks };
}
