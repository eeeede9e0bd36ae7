import { styleText } from 'node:util';
import { describeValue } from '../config/environment.ts';
import { variables } from '../config/variables.ts';
import { type CheckResult, checkContract, type ServiceUnderCheck } from '../conformance/run.ts';
import { readBearer } from '../contract/bearer.ts';
import { formatTable } from './table.ts';

/** Options of the command; the URLs are not parsed yet. */
interface CheckServiceOptions extends Pick<ServiceUnderCheck, 'write' | 'idempotency'> {
  readonly key?: string;
  readonly baseUrl: string;
  readonly messagesBaseUrl?: string;
  readonly json: boolean;
}

/** Runs the command. @throws as `checkService` does; Error if an option is missing or invalid. */
export async function runCheckService(options: CheckServiceOptions): Promise<void> {
  const { key, baseUrl, messagesBaseUrl, ...others } = options;
  if (!key) throw new Error('Missing API key: set PETSTORE_API_KEY or pass --key.');
  const { output, exitCode } = await checkService({
    apiKey: key,
    baseUrl: readUrl('--base-url', baseUrl),
    messagesBaseUrl: messagesBaseUrl ? readUrl('--messages-base-url', messagesBaseUrl) : undefined,
    ...others,
    timeoutMs: 10_000,
  });
  process.stdout.write(output);
  process.exitCode = exitCode;
}

function readUrl(option: string, text: string): URL {
  const { parse, accepts } = variables.PETSTORE_BASE_URL;
  const url = parse(text);
  if (url) return url;
  throw new Error(`${option}: expected ${accepts}, received ${describeValue(text)}.`);
}

/**
 * Checks whether a REST service follows the contract. Returns the report as a table or as JSON, and the
 * exit code: 0 if no check failed, otherwise 1.
 * @throws NotCheckedError if the service could not be checked; UnauthenticatedError if the API key is
 *   not a valid bearer token.
 */
export async function checkService(options: ServiceUnderCheck & { readonly json: boolean }) {
  readBearer(`Bearer ${options.apiKey}`);
  const checks = await checkContract(options);
  const exitCode = checks.some(({ verdict }) => verdict === 'fail') ? 1 : 0;
  const baseUrl = options.baseUrl.href;
  const output = options.json
    ? JSON.stringify({ baseUrl, verdict: exitCode === 0 ? 'pass' : 'fail', checks }, null, 2)
    : `${baseUrl}\n\n${table(checks)}\n${summary(checks)}`;
  return { output: `${output}\n`, exitCode };
}

/** Failures are last, because the end is what a terminal shows, and red if it shows colours. */
function table(checks: readonly CheckResult[]): string {
  const isFailed = ({ verdict }: CheckResult) => verdict === 'fail';
  const rows = checks
    .toSorted((one, other) => Number(isFailed(one)) - Number(isFailed(other)))
    .map(({ verdict, rule, seen }) => [labels[verdict], rule, seen]);
  const text = formatTable(['RESULT', 'RULE', 'SEEN'], rows);
  return text.replaceAll(/^FAIL/gm, (label) => styleText('red', label));
}

/** Upper case makes failures stand out. */
const labels = { pass: 'pass', fail: 'FAIL', info: 'info', skip: 'skip' } as const;

function summary(checks: readonly CheckResult[]): string {
  const count = (verdict: CheckResult['verdict']) =>
    checks.filter((check) => check.verdict === verdict).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('info')} not specified, ${count('skip')} skipped`;
}
