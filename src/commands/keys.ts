import type { Administration } from '../backends/open.ts';
import type { Outcome } from './administer.ts';
import { formatTable } from './table.ts';

/** Creates an account. @throws ApiKeyError when the name is taken. */
export async function createAccount({ keys }: Administration, name: string): Promise<Outcome> {
  const account = await keys.createAccount(name);
  return {
    text: `Account ${name} created. Make a key: npm run keys -- create ${name}\n`,
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
      'No account. Create one: keys create-account NAME',
    ),
    json: accounts,
  };
}

/** Makes a key and shows it, this once. @throws ApiKeyError when there is no such account. */
export async function createKey({ keys }: Administration, account: string): Promise<Outcome> {
  const key = await keys.create(account);
  return {
    text: `${key.key}\n\nKey ${key.id} of ${account}. Keep it now: it is stored nowhere and not shown again.\n`,
    json: key,
  };
}

/** Lists the keys of an account. @throws ApiKeyError when there is no such account. */
export async function listKeys({ keys }: Administration, account: string): Promise<Outcome> {
  const list = await keys.list(account);
  const rows = list.map(({ id, createdAt, revokedAt }) => [id, createdAt, revokedAt ?? '']);
  return {
    text: formatTable(
      ['KEY', 'CREATED', 'REVOKED'],
      rows,
      `No key. Make one: keys create ${account}`,
    ),
    json: list,
  };
}

/** Revokes a key. @throws ApiKeyError when there is no such key. */
export async function revokeKey({ keys }: Administration, id: string): Promise<Outcome> {
  const key = await keys.revoke(id);
  return {
    text: `Key ${id} of ${key.account} is revoked. Running servers refuse it within seconds.\n`,
    json: key,
  };
}
