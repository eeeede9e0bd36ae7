import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { it } from 'vitest';

/** Debian's chromium, or the one that `CHROMIUM` names. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

const installed = existsSync(executablePath);
if (!installed) {
  process.stderr.write(
    `Tests in a browser are SKIPPED: there is none at ${executablePath}. Install it (apt-get install chromium) or set CHROMIUM.\n`,
  );
}

/** A test that needs a browser: skipped, with a line that says so, where there is none. */
export const browserTest = it.skipIf(!installed);

/** A headless Chromium that asks for nothing but what its pages ask for; closed when disposed of. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-gpu',
    ],
  });
}
