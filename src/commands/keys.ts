import type { Administration } from '../backends/open.ts';
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
export async function createKey({ keys }: Administration, account: string): Promise<Outcome> {
  const key = await keys.create(account);
  return {
    text: `${key.key}\n\nThis is key ${key.id} of account ${account}. Copy it now: it is not stored and cannot be shown again.\n`,
    json: key,
  };
}

/** Lists the keys of an account. @throws ApiKeyError if the account does not exist. */
export async function listKeys({ keys }: Administration, account: string): Promise<Outcome> {
  const list = await keys.list(account);
  const rows = list.map(({ id, createdAt, revokedAt }) => [id, createdAt, revokedAt ?? '']);
  return {
    text: formatTable(
      ['KEY', 'CREATED', 'REVOKED'],
      rows,
      `No API keys. Create one with: keys create ${account}`,
    ),
    json: list,
  };
}

/** Revokes a key. @throws ApiKeyError if the key does not exist. */
export async function revokeKey({ keys }: Administration, id: string): Promise<Outcome> {
  const key = await keys.revoke(id);
  return {
    text: `Revoked key ${id} of account ${key.account}. Running gateways refuse it within two seconds.\n`,
    json: key,
  };
}
