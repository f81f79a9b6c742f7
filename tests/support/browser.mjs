// The browser of the tests: the one that `tests/e2e/shared-host.mjs` has started for all files, or
// one of its own. Each page has a context of its own either way: no storage, no cookies of others.

import path from 'node:path';
import { chromium } from 'playwright-core';
import { findBrowser } from '../../scripts/setup/tools.mjs';

/** Names the address of the shared browser. */
export const BROWSER = 'JARVIS_TEST_BROWSER';

/** @returns {Promise<import('playwright-core').Browser>} its `close` ends a shared one's pages only */
export async function launchBrowser() {
  const shared = process.env[BROWSER];
  return shared ? chromium.connect(shared) : chromium.launch(await options());
}

/** A browser that several processes can open pages in. */
export async function serveBrowser() {
  return chromium.launchServer(await options());
}

async function options() {
  const program = await findBrowser();
  return {
    ...(program ? lean(program) : {}),
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
      '--enable-precise-memory-info',
    ],
  };
}

/** @param {string} program */
function lean(program) {
  if (process.platform !== 'linux') return { executablePath: program };
  const executablePath = path.join(import.meta.dirname, 'chromium.sh');
  return { executablePath, env: { ...process.env, JARVIS_TEST_CHROMIUM: program } };
}
