import { type CheckResult, checkContract, type ServiceUnderCheck } from '../conformance/run.ts';
import { readBearer } from '../contract/bearer.ts';
import { formatTable } from './table.ts';

/** What was found, and the exit code that says so: 0 when nothing breaks the contract, else 1. */
export interface ServiceReport {
  readonly output: string;
  readonly exitCode: 0 | 1;
}

/**
 * Tells whether a REST service keeps the contract, as a table or, if asked for, as JSON.
 * @throws NotCheckedError when nothing can be said of it; UnauthenticatedError for a key that no
 *   service could take.
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

/** What is broken stands out. */
const labels = { pass: 'pass', fail: 'FAIL', info: 'info', skip: 'skip' } as const;

function summary(checks: readonly CheckResult[]): string {
  const count = (verdict: CheckResult['verdict']) =>
    checks.filter((check) => check.verdict === verdict).length;
  return `${count('pass')} kept, ${count('fail')} broken, ${count('info')} not published, ${count('skip')} skipped`;
}
