import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { it } from 'vitest';

/** The path of Debian's Chromium, or the value of `CHROMIUM`. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

const installed = existsSync(executablePath);
if (!installed) {
  process.stderr.write(
    `Browser tests are SKIPPED: ${executablePath} does not exist. Install Chromium (apt-get install chromium) or set CHROMIUM.\n`,
  );
}

/** A test that needs a browser. It is skipped, with a message, if none is installed. */
export const browserTest = it.skipIf(!installed);

/** Launches a headless Chromium that makes no requests of its own, only those of its pages. */
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
