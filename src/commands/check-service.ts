import { type CheckResult, checkContract, type ServiceUnderCheck } from '../conformance/run.ts';
import { readBearer } from '../contract/bearer.ts';
import { formatTable } from './table.ts';

/** The report on a service, and the exit code: 0 if no check failed, otherwise 1. */
export interface ServiceReport {
  readonly output: string;
  readonly exitCode: 0 | 1;
}

/**
 * Checks whether a REST service follows the contract, and reports the result as a table or as JSON.
 * @throws NotCheckedError if the service could not be checked; UnauthenticatedError if the API key is
 *   not a valid bearer token.
 */
export async function checkService(
  options: ServiceUnderCheck & { readonly json: boolean },
): Promise<ServiceReport> {
  readBearer(`Bearer ${options.apiKey}`);
  const checks = await checkContract(options);
  const exitCode = checks.some(({ verdict }) => verdict === 'fail') ? 1 : 0;
  const baseUrl = options.baseUrl.href;
  const output = options.json
    ? JSON.stringify({ baseUrl, verdict: exitCode === 0 ? 'pass' : 'fail', checks }, null, 2)
    : `${baseUrl}\n\n${table(checks)}\n${summary(checks)}`;
  return { output: `${output}\n`, exitCode };
}

function table(checks: readonly CheckResult[]): string {
  const rows = checks.map(({ verdict, rule, seen }) => [labels[verdict], rule, seen]);
  return formatTable(['VERDICT', 'RULE', 'SEEN'], rows);
}

/** Upper case makes failures stand out. */
const labels = { pass: 'pass', fail: 'FAIL', info: 'info', skip: 'skip' } as const;

function summary(checks: readonly CheckResult[]): string {
  const count = (verdict: CheckResult['verdict']) =>
    checks.filter((check) => check.verdict === verdict).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('info')} not specified, ${count('skip')} skipped`;
}
