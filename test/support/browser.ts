import { type Browser, chromium, type Page } from 'playwright-core';
import { it } from 'vitest';
import { executablePath, isBrowserInstalled, launchBrowser } from './browser-server.ts';
import { shared } from './shared.ts';

if (!isBrowserInstalled) {
  process.stderr.write(
    `Browser tests are SKIPPED: ${executablePath} does not exist. Install Chromium (apt-get install chromium) or set CHROMIUM.\n`,
  );
}

/** A test that needs a browser. It is skipped, with a message, if none is installed. */
export const browserTest = it.skipIf(!isBrowserInstalled);

/** A part of a browser that shares nothing with other parts. */
type IsolatedBrowser = Pick<Browser, 'newPage' | 'close'> & AsyncDisposable;

/** The connection to the browser of the test run, which the files of a worker share. */
let connected: Promise<Browser> | undefined;

/** Opens a headless Chromium that makes only the requests of its pages. Each page has its own profile. */
export async function openBrowser(): Promise<IsolatedBrowser> {
  const address = await shared('browser');
  if (address !== undefined) connected ??= chromium.connect(address);
  const browser = await (connected ?? launchBrowser());
  const pages: Page[] = [];
  const close = async () => {
    await Promise.all(pages.map((page) => page.context().close()));
    if (connected === undefined) await browser.close();
  };
  return {
    async newPage(options) {
      const page = await browser.newPage(options);
      // It ends what hangs, and must not end what is slow on a busy machine.
      page.setDefaultTimeout(100_000);
      pages.push(page);
      return page;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
