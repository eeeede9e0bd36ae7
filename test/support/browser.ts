import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, it } from 'vitest';

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

/** A part of a browser that shares nothing with other parts. */
export type IsolatedBrowser = Pick<Browser, 'newPage' | 'close'> & AsyncDisposable;

/** The browser of a test file. Launching one takes seconds on a busy machine. */
let launched: Promise<Browser> | undefined;
if (process.env['VITEST']) afterAll(async () => (await launched)?.close());

/**
 * Opens a headless Chromium that makes no requests of its own, only those of its pages. Each page has
 * a profile of its own.
 */
export async function openBrowser(): Promise<IsolatedBrowser> {
  launched ??= launch();
  const browser = await launched;
  const pages: Page[] = [];
  const close = async () => {
    await Promise.all(pages.map((page) => page.context().close()));
    if (!process.env['VITEST']) await browser.close();
  };
  return {
    async newPage(options) {
      const page = await browser.newPage(options);
      pages.push(page);
      return page;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function launch(): Promise<Browser> {
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
