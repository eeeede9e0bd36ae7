import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../support/folder.ts';
import { startGateway } from '../support/gateway.ts';

const tries = 100;
const bytes = 5_000_000;

const fetchUploads = `
  const body = new Uint8Array(${bytes});
  const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
  for (let count = 0; count < ${tries}; count++) {
    const response = await fetch(process.argv[1], { method: 'POST', headers, body });
    console.log(response.status, (await response.json()).errors[0].extensions.code);
  }`;

const urllibUploads = `
import json, sys, urllib.error, urllib.request
headers = {'Authorization': 'Bearer demo-key', 'Content-Type': 'application/json'}
for count in range(${tries}):
    try:
        urllib.request.urlopen(urllib.request.Request(sys.argv[1], bytes(${bytes}), headers))
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)['errors'][0]['extensions']['code'])`;

const curlUploads = `
for count in $(seq ${tries}); do
  curl --silent --show-error --output /dev/null --write-out '%{http_code} BODY_TOO_LARGE\\n' \\
    --header 'Authorization: Bearer demo-key' --header 'Content-Type: application/json' \\
    --data-binary "@$2" "$1"
done`;

const file = join(createFolder(), 'body');
writeFileSync(file, Buffer.alloc(bytes, ' '));

describe('an upload of 5 MB', () => {
  it.each([
    ["Node's fetch", process.execPath, ['--input-type=module', '--eval', fetchUploads]],
    ['urllib', 'python3', ['-c', urllibUploads]],
    ['curl', 'bash', ['-c', curlUploads, 'curl']],
  ])('gets its 413 in all of a hundred tries: %s', async (_, command, args) => {
    await using service = await startGateway();
    const { stdout } = await promisify(execFile)(command, [
      ...args,
      `${service.url}/graphql`,
      file,
    ]);
    expect(stdout).toBe('413 BODY_TOO_LARGE\n'.repeat(tries));
  });
});
