import type { Administration, CreatedApiKey } from '../backends/open.ts';
import type { Outcome } from './administer.ts';
import { formatTable } from './table.ts';

/** Creates an account. @throws ApiKeyError if the name is taken. */
export async function createAccount({ keys }: Administration, name: string): Promise<Outcome> {
  const account = await keys.createAccount(name);
  return {
    text: `Created account ${name}. Create an API key with: keys create ${name}\n`,
    json: account,
  };
}

/** Lists the accounts. */
export async function listAccounts({ keys }: Administration): Promise<Outcome> {
  const accounts = await keys.listAccounts();
  const rows = accounts.map(({ name, createdAt }) => [name, createdAt]);
  return {
    text: formatTable(
      ['ACCOUNT', 'CREATED'],
      rows,
      'No accounts. Create one with: keys create-account NAME',
    ),
    json: accounts,
  };
}

/** Creates a key and shows it once. @throws ApiKeyError if the account does not exist. */
export async function createKey(
  { keys }: Administration,
  account: string,
  { label, expires }: { readonly label?: string; readonly expires?: number },
): Promise<Outcome> {
  const key = await keys.create(account, label, expires);
  return { text: describeNewKey(key), json: key };
}

/** Lists the keys of an account. @throws ApiKeyError if the account does not exist. */
export async function listKeys({ keys }: Administration, account: string): Promise<Outcome> {
  const list = await keys.list(account);
  const rows = list.map(({ id, label, createdAt, expiresAt, lastUsedAt, revokedAt }) =>
    [id, label, createdAt, expiresAt, lastUsedAt, revokedAt].map((cell) => cell ?? ''),
  );
  return {
    text: formatTable(
      ['KEY', 'LABEL', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'],
      rows,
      `No API keys. Create one with: keys create ${account}`,
    ),
    json: list,
  };
}

/** Replaces a key and shows the new one once. @throws ApiKeyError if the key cannot be used. */
export async function rotateKey(
  { keys }: Administration,
  id: string,
  { overlap }: { readonly overlap: number },
): Promise<Outcome> {
  const key = await keys.rotate(id, overlap);
  const replaced = `It replaces key ${id}, which expires at ${key.replaces.expiresAt}.`;
  return { text: `${describeNewKey(key)}${replaced}\n`, json: key };
}

function describeNewKey({ key, id, account, expiresAt }: CreatedApiKey): string {
  const expiry = expiresAt === null ? '' : ` It expires at ${expiresAt}.`;
  return `${key}\n\nThis is key ${id} of account ${account}.${expiry} Copy it now: it is not stored and cannot be shown again.\n`;
}

/** Revokes a key. @throws ApiKeyError if the key does not exist. */
export async function revokeKey({ keys }: Administration, id: string): Promise<Outcome> {
  const key = await keys.revoke(id);
  return {
    text: `Revoked key ${id} of account ${key.account}. Running gateways refuse it within two seconds.\n`,
    json: key,
  };
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30m`, `24h` or `90d` to milliseconds; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}
