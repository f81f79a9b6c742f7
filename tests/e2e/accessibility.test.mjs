// Our own pages in a browser: the report that `jsec` writes. No violation of the rules of axe, in
// every colour scheme; read by keyboard alone; nothing is loaded from elsewhere.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { venv } from '../../scripts/setup/python.mjs';
import { launchBrowser } from '../support/browser.mjs';
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
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  test('it is read by keyboard alone', async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(file).href);
    const shown = (/** @type {string} */ what) => page.locator(`${what}:visible`).count();
    const families = await shown('summary');
    const withHigh = await page.locator('details:has(article.high)').count();
    assert.ok(withHigh < families, 'some families have nothing grave');
    await page.keyboard.press('Tab'); // "high"; the next ones are "medium" and "low"
    for (const severity of ['medium', 'low']) {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      assert.equal(await shown(`article.${severity}`), 0);
    }
    assert.ok((await shown('article.high')) > 0);
    assert.equal(await shown('summary'), withHigh, 'a family without findings to show is gone');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('summary:focus').count(), 1);
    const open = await page.locator('details[open]').count();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('details[open]').count(), open - 1, 'folded');
    await page.close();
  });

  for (const colorScheme of /** @type {const} */ (['light', 'dark', 'contrast'])) {
    for (const width of [1280, 360]) {
      test(`${colorScheme}, ${width} pixels wide`, async () => {
        const page = await browser.newPage({
          ...(colorScheme === 'contrast'
            ? { contrast: 'more', forcedColors: 'active' }
            : { colorScheme }),
          viewport: { width, height: 800 },
        });
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
