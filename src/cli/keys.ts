import type { CreatedApiKey } from '../petstore/open.ts';
import type { AdministrativeCommand } from './administer.ts';
import { commandLine } from './command-line.ts';
import { formatTable } from './table.ts';

/** The commands on accounts and API keys. They reject with what was expected. */
export const keyCommands: readonly AdministrativeCommand[] = [
  {
    usage: 'create-account <name>',
    description: 'create an account',
    creates: true,
    async work({ keys }, name: string) {
      const json = await keys.createAccount(name);
      const next = commandLine(`keys create ${name}`);
      return { text: `Created account ${name}. Create an API key with: ${next}\n`, json };
    },
  },
  {
    usage: 'accounts',
    description: 'list the accounts',
    async work({ keys }) {
      const json = await keys.listAccounts();
      const rows = json.map(({ name, createdAt }) => [name, createdAt]);
      const whenEmpty = `No accounts. Create one with: ${commandLine('keys create-account NAME')}`;
      return { text: formatTable(['ACCOUNT', 'CREATED'], rows, whenEmpty), json };
    },
  },
  {
    usage: 'create <account>',
    description: 'create an API key and print it once',
    options: [
      ['--label <text>', 'what the key is for'],
      ['--expires <duration>', 'lifetime, such as 90d; unlimited by default'],
    ],
    async work({ keys }, account: string, given: { label?: string; expires?: number }) {
      const json = await keys.create(account, given.label, given.expires);
      return { text: describeNewKey(json), json };
    },
  },
  {
    usage: 'list <account>',
    description: 'list the API keys of an account',
    async work({ keys }, account: string) {
      const json = await keys.list(account);
      const header = ['KEY', 'LABEL', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'];
      const rows = json.map(({ id, label, createdAt, expiresAt, lastUsedAt, revokedAt }) =>
        [id, label, createdAt, expiresAt, lastUsedAt, revokedAt].map((cell) => cell ?? ''),
      );
      const whenEmpty = `No API keys. Create one with: ${commandLine(`keys create ${account}`)}`;
      return { text: formatTable(header, rows, whenEmpty), json };
    },
  },
  {
    usage: 'rotate <key-id>',
    description: 'create an API key with the label and lifetime of another one, which expires',
    options: [['--overlap <duration>', 'how long the old key stays valid; 24h by default']],
    async work({ keys }, id: string, { overlap = 86_400_000 }: { overlap?: number }) {
      const json = await keys.rotate(id, overlap);
      const replaced = `It replaces key ${id}, which expires at ${json.replaces.expiresAt}.`;
      return { text: `${describeNewKey(json)}${replaced}\n`, json };
    },
  },
  {
    usage: 'revoke <key-id>',
    description: 'revoke an API key',
    async work({ keys }, id: string) {
      const json = await keys.revoke(id);
      const revoked = `Revoked key ${id} of account ${json.account}.`;
      return { text: `${revoked} Running gateways refuse it within two seconds.\n`, json };
    },
  },
];

function describeNewKey({ key, id, account, expiresAt }: CreatedApiKey): string {
  const expiry = expiresAt === null ? '' : ` It expires at ${expiresAt}.`;
  return `${key}\n\nThis is key ${id} of account ${account}.${expiry} Copy it now: it is not stored and cannot be shown again.\n`;
}
