// Our own pages by the rules of axe, in a browser: the report that `jsec` writes. No violation, in
// every colour scheme; nothing is loaded from elsewhere.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { venv } from '../../scripts/setup/python.mjs';
import { findBrowser } from '../../scripts/setup/tools.mjs';
import { ROOT, violations } from './workbench.mjs';

/** Told to the browser from outside: the page's own policy lets no script in. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('the HTML report', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-axe-'));
  const file = path.join(folder, 'report.html');
  /** @type {import('playwright-core').Browser} */
  let browser;

  before(async () => {
    const project = path.join(ROOT, 'tests', 'workspaces', 'inventory');
    const options = ['--format', 'html', '--output', file, '--no-cache', '--quiet'];
    execFileSync(venv('jsec'), ['scan', project, ...options]);
    const executablePath = await findBrowser();
    browser = await chromium.launch({
      ...(executablePath ? { executablePath } : {}),
      args: ['--no-sandbox'],
    });
  });
  after(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    for (const width of [1280, 360]) {
      test(`${colorScheme}, ${width} pixels wide`, async () => {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
        /** @type {string[]} */
        const elsewhere = [];
        page.on('request', (request) => {
          if (!request.url().startsWith('file:')) elsewhere.push(request.url());
        });
        await page.goto(pathToFileURL(file).href);
        await page.evaluate(AXE);
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(elsewhere, []);
        await page.close();
      });
    }
  }
});
