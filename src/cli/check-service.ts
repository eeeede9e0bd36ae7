import { styleText } from 'node:util';
import { describeValue } from '../config/environment.ts';
import { variables } from '../config/variables.ts';
import { servicesThatHonour } from '../conformance/idempotency.ts';
import { type CheckResult, checksOf, type RunOptions, runChecks } from '../conformance/run.ts';
import { contract } from '../petstore/operations.ts';
import { baseUrlsOf } from '../petstore/rest.ts';
import { formatTable } from './table.ts';

/** Options of the command; the URLs are not parsed yet. */
interface CheckServiceOptions extends Pick<RunOptions, 'write' | 'idempotency'> {
  readonly key?: string;
  readonly baseUrl: string;
  readonly messagesBaseUrl?: string;
  readonly json: boolean;
}

/** Prints the report. @throws as `runChecks` does; Error if an option is missing or invalid. */
export async function runCheckService(options: CheckServiceOptions): Promise<void> {
  const { key, json, ...others } = options;
  const baseUrl = readUrl('--base-url', options.baseUrl);
  const messagesBaseUrl = options.messagesBaseUrl
    ? readUrl('--messages-base-url', options.messagesBaseUrl)
    : undefined;
  if (!key) throw new Error('Missing API key: set PETSTORE_API_KEY or pass --key.');
  const baseUrls = baseUrlsOf({ baseUrl, messagesBaseUrl });
  const given = { ...others, apiKey: key, baseUrls, timeoutMs: 10_000 };
  const checks = await runChecks(contract, given);
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
  const [service, other] = servicesThatHonour(checksOf(contract).doneOnce, checks);
  const advice = service ? `Set UPSTREAM_IDEMPOTENCY=${other ? 'on' : service}\n` : '';
  return `${baseUrl}\n\n${table}\n${summary}\n${advice}`;
}

function isFailed({ verdict }: CheckResult): boolean {
  return verdict === 'fail';
}
