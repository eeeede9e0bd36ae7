import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** The path of Debian's Chromium, or the value of `CHROMIUM`. */
export const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Whether there is a browser at that path. */
export const isBrowserInstalled = existsSync(executablePath);

/** The browser makes no requests of its own, only those of its pages. */
const options = {
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-gpu',
  ],
};

/** Launches a headless Chromium, to which several processes can connect. */
export const launchBrowserServer = () => chromium.launchServer(options);

/** Launches a headless Chromium for this process. */
export const launchBrowser = () => chromium.launch(options);
