import { styleText } from 'node:util';
import { describeValue } from '../config/environment.ts';
import { variables } from '../config/variables.ts';
import type { CheckResult } from '../conformance/run.ts';
import {
  checkContract,
  type ServiceUnderCheck,
  servicesThatHonour,
} from '../petstore/conformance/check-contract.ts';
import { formatTable } from './table.ts';

/** Options of the command; the URLs are not parsed yet. */
interface CheckServiceOptions extends Pick<ServiceUnderCheck, 'write' | 'idempotency'> {
  readonly key?: string;
  readonly baseUrl: string;
  readonly messagesBaseUrl?: string;
  readonly json: boolean;
}

/** Prints the report. @throws as `checkContract` does; Error if an option is missing or invalid. */
export async function runCheckService(options: CheckServiceOptions): Promise<void> {
  const { key, json, ...others } = options;
  const baseUrl = readUrl('--base-url', options.baseUrl);
  const messagesBaseUrl =
    options.messagesBaseUrl && readUrl('--messages-base-url', options.messagesBaseUrl);
  if (!key) throw new Error('Missing API key: set PETSTORE_API_KEY or pass --key.');
  const checks = await checkContract({
    ...others,
    apiKey: key,
    baseUrl,
    messagesBaseUrl: messagesBaseUrl || undefined,
    timeoutMs: 10_000,
  });
  process.stdout.write(formatReport(baseUrl.href, checks, json));
  process.exitCode = checks.some(isFailed) ? 1 : 0;
}

function readUrl(option: string, text: string): URL {
  const { parse, accepts } = variables.PETSTORE_BASE_URL;
  const url = parse(text);
  if (url) return url;
  throw new Error(`${option}: expected ${accepts}, received ${describeValue(text)}.`);
}

/** Formats the results as JSON or as a table, in which failures are last: a terminal shows the end. */
export function formatReport(baseUrl: string, checks: readonly CheckResult[], json: boolean) {
  if (json) {
    const verdict = checks.some(isFailed) ? 'fail' : 'pass';
    return `${JSON.stringify({ baseUrl, verdict, checks }, null, 2)}\n`;
  }
  const rows = checks
    .toSorted((one, other) => Number(isFailed(one)) - Number(isFailed(other)))
    .map(({ verdict, rule, seen }) => [verdict === 'fail' ? 'FAIL' : verdict, rule, seen]);
  const table = formatTable(['RESULT', 'RULE', 'SEEN'], rows).replaceAll(/^FAIL/gm, (label) =>
    styleText('red', label),
  );
  const count = (verdict: CheckResult['verdict']) =>
    checks.filter((check) => check.verdict === verdict).length;
  const summary = `${count('pass')} passed, ${count('fail')} failed, ${count('info')} not specified, ${count('skip')} skipped`;
  const [service, other] = servicesThatHonour(checks);
  const advice = service ? `Set UPSTREAM_IDEMPOTENCY=${other ? 'on' : service}\n` : '';
  return `${baseUrl}\n\n${table}\n${summary}\n${advice}`;
}

function isFailed({ verdict }: CheckResult): boolean {
  return verdict === 'fail';
}
