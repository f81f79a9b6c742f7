// The findings view: everything the workspace holds, grouped, filtered, counted on the icon, and
// settled several at a time.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openWorkbench, ROOT, until, violations } from './workbench.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What the editor's themes say to a page: its class and variables. */
const THEMES = JSON.parse(readFileSync(path.join(ROOT, 'tests', 'webview', 'themes.json'), 'utf8'));

const PICTURES = process.env.JARVIS_PANEL_PICTURES;

/** @param {string} name */
const asks = (name) => `#include <stdio.h>

void ${name}(void) {
  char line[16];
  gets(line);
}
`;
const FREES = `#include <stdlib.h>

void drop(char *memory) {
  free(memory);
  free(memory);
}
`;

/**
 * Judges the details of a finding in each theme: in a page of its own, since theirs runs no script.
 * @param {string} content
 */
async function breaksNoRule(content) {
  const page = await editor.page.context().browser().newPage();
  for (const [theme, { style, class: name }] of Object.entries(THEMES)) {
    await page.setContent(`<html lang="en">${content}</html>`);
    await page.evaluate(
      ([variables, className]) => {
        for (const [variable, value] of Object.entries(variables)) {
          document.documentElement.style.setProperty(variable, value);
        }
        document.body.className = className;
        document.body.style.color = 'var(--vscode-editor-foreground)'; // as the editor lets it be
        document.body.style.background = 'var(--vscode-sideBar-background)';
      },
      [style, name],
    );
    if (process.env.JARVIS_PANEL_PICTURES) {
      await page.screenshot({ path: `${process.env.JARVIS_PANEL_PICTURES}/details-${theme}.png` });
    }
    await page.evaluate(AXE);
    assert.deepEqual(await violations(page), [], theme);
  }
  await page.close();
}

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  editor = await openWorkbench({
    files: {
      'one.c': asks('one'),
      'two.c': asks('two'),
      'lib/three.c': asks('three'),
      'lib/memory.c': FREES,
      'clean.c': 'int clean(void) { return 0; }\n',
    },
  });
  await editor.serverStarted();
});
after(() => editor.close());

const badge = () => editor.page.locator('.activitybar .badge-content', { hasText: /^\d+$/ });

test('the icon counts the open findings of the whole workspace', async () => {
  await editor.openFindings();
  await editor.finding('memory.c:5').waitFor();
  await until('four on the icon', async () => (await badge().allInnerTexts()).includes('4'));
  await editor.status.filter({ hasText: '4 findings' }).waitFor();
});

test('grouping by file, rule, category and severity', async () => {
  await editor.groupBy('File');
  await editor.finding(/^three\.c/).waitFor();
  assert.equal(await editor.finding('clean.c').count(), 0);
  await editor.groupBy('Rule');
  await editor.finding(/^gets-call/).waitFor();
  await editor.finding(/^double-free/).waitFor();
  await editor.groupBy('Category');
  await editor.finding(/^Unsafe API/).waitFor();
  await editor.groupBy('Severity');
  await editor.finding(/^High/).waitFor();
});

test('a screen reader hears what a finding is and where', async () => {
  await editor.labelBecomes(
    editor.finding('memory.c:5').first(),
    /^(High|Medium|Low): .+ Rule double-free, memory\.c, line 5$/,
  );
});

test('a click goes to the place', async () => {
  await editor.click(editor.finding('three.c:5'), editor.tab('three.c'));
  await editor.page.locator('.statusbar-item', { hasText: 'Ln 5' }).waitFor();
});

test('a row begins with the message; its children are the steps of the path', async () => {
  const row = editor.finding('memory.c:5').first(); // the last step is there, too
  assert.match(await row.locator('.label-name').innerText(), /freed twice/);
  await editor.click(row, editor.tab('memory.c'));
  await editor.page.keyboard.press('ArrowRight');
  const step = editor.finding(/memory\.c:4$/);
  await editor.labelBecomes(step, /^Step \d of \d: .+ memory\.c, line 4$/);
  await editor.page.keyboard.press('ArrowDown');
  await editor.page.keyboard.press('Enter');
  await editor.page.locator('.statusbar-item', { hasText: 'Ln 4' }).waitFor();
  const details = editor.webview.locator('main');
  await details.getByText(/^What to do:/).waitFor();
  await details.getByText(/^Score .+ = confidence .+ × 3/).waitFor();
  await breaksNoRule(await editor.webview.locator('html').innerHTML());
  await editor.click(row, row);
  await editor.page.keyboard.press('ArrowLeft');
  await step.waitFor({ state: 'hidden' });
});

test('the path of a finding opens as a call hierarchy, each step above what leads to it', async () => {
  const { page } = editor;
  await editor.open('memory.c');
  await editor.goTo(5, 3);
  await editor.command('Jarvis: Show Path as Call Hierarchy');
  await page.getByText('Path to the Finding').first().waitFor();
  const rows = page.locator('[aria-label^="Step "]');
  await until('two steps', async () => (await rows.count()) >= 2);
  const levels = await rows.evaluateAll((all) =>
    all.map((row) => [row.getAttribute('aria-level'), row.getAttribute('aria-label')]),
  );
  assert.deepEqual(
    levels.map(([level]) => level),
    ['1', '2'],
  );
  assert.match(levels[0]?.[1] ?? '', /^Step 2 of 2: .+ memory\.c, line 5$/);
  assert.match(levels[1]?.[1] ?? '', /^Step 1 of 2: .+ memory\.c, line 4$/);
  if (PICTURES) await editor.picture(path.join(PICTURES, 'path-tree.png'));
  await page.keyboard.press('F4');
  await page.locator('.statusbar-item', { hasText: 'Ln 4' }).waitFor();
  await editor.openFindings();
  await editor.menu(editor.finding('memory.c:5').first(), 'Show Path as Call Hierarchy');
  await until('the path again', async () => (await rows.count()) >= 2);
  await editor.openFindings();
});

test('words filter the findings, and the filter says so until it is cleared', async () => {
  await editor.command('Jarvis: Filter by Text…');
  await editor.answer('double-free lib/');
  await until('one finding', async () => (await editor.finding('.c:').count()) === 1);
  await editor.page.getByText('1 of 4 findings').waitFor();
  await editor.command('Jarvis: Clear Filter');
  await until('all findings', async () => (await editor.finding('.c:').count()) === 4);
});

test('a filter that hides everything offers to be cleared', async () => {
  await editor.command('Jarvis: Filter by Text…');
  await editor.answer('nothing-has-this-name');
  await editor.findings.getByText('No findings match the filter.').waitFor();
  await editor.findings.getByText('Clear Filter').click();
  await editor.finding('memory.c:5').waitFor();
});

test('several findings are suppressed at once, with one reason, and their files saved', async () => {
  const selected = editor.page.locator('[aria-selected="true"]');
  const [one, two] = [editor.finding('one.c:5'), editor.finding('two.c:5')];
  await editor.click(one, one.and(selected));
  await editor.click(two, two.and(selected), { modifiers: ['ControlOrMeta'] });
  await editor.command('Jarvis: Suppress (Ignore)…');
  await editor.pick('This line');
  await editor.answer('only ever run by hand');
  const comment = /jsec-ignore: gets-call only ever run by hand/;
  await until('both saved', () =>
    ['one.c', 'two.c'].every((file) => comment.test(editor.read(file))),
  );
  await until('two left', async () => (await editor.finding('.c:').count()) === 2);
  await until('two on the icon', async () => (await badge().allInnerTexts()).includes('2'));
});

test('an empty reason is refused', async () => {
  await editor.click(editor.finding('three.c:5'), editor.tab('three.c'));
  await editor.command('Jarvis: Suppress (Ignore)…');
  await editor.pick('This line');
  await editor.quickInput.locator('input.input').fill('   ');
  await editor.page.keyboard.press('Enter');
  await editor.page.getByText('A reason is required').waitFor();
  await editor.page.keyboard.press('Escape');
  assert.doesNotMatch(editor.read('lib/three.c'), /jsec-ignore/);
});

test('suppressed findings come back into view when asked for', async () => {
  await editor.command('Jarvis: View Suppressed Findings');
  await editor.labelBecomes(editor.finding('one.c:6'), /^suppressed: /);
  await editor.command('Jarvis: Hide Suppressed Findings');
  await until('hidden', async () => (await editor.finding('one.c:6').count()) === 0);
});

test('the baseline takes a finding out of sight without touching the source', async () => {
  const source = editor.read('lib/three.c');
  await editor.menu(editor.finding('three.c:5'), 'Add to Baseline');
  await editor.answer('known since 1998');
  await until('gone', async () => (await editor.finding('three.c:5').count()) === 0);
  assert.equal(editor.read('lib/three.c'), source);
  await editor.command('Jarvis: View Baselined Findings');
  await editor.finding('three.c:5').waitFor();
  await editor.command('Jarvis: Hide Baselined Findings');
  await until('hidden', async () => (await editor.finding('three.c:5').count()) === 0);
});

test('a fix is applied from the view', async () => {
  const asked = editor.toast('The list has changed. Try again.');
  const none = editor.findings.getByText('No findings.');
  await editor.menu(editor.finding('memory.c:5'), 'Fix');
  await none.or(asked).first().waitFor();
  if (!(await none.isVisible())) {
    await editor.menu(editor.finding('memory.c:5'), 'Fix'); // as anybody would who reads that
  }
  await none.waitFor();
  assert.equal(await editor.finding('.c:').count(), 0);
});

test('a report is written where the user wants it', async () => {
  for (const [form, name] of [
    ['SARIF', 'jarvis-report.sarif'],
    ['HTML', 'jarvis-report.html'],
  ]) {
    await editor.command('Jarvis: Export Report…');
    await editor.pick(form);
    await editor.quickInput.getByText(/Export report/).waitFor();
    await editor.confirm();
    await editor.toast(`written to ${name}`).waitFor();
    assert.ok(existsSync(path.join(editor.folder, name)));
  }
  assert.equal(JSON.parse(editor.read('jarvis-report.sarif')).version, '2.1.0');
});

test('results of another tool are imported as its own, and cleared', async () => {
  const place = { artifactLocation: { uri: 'clean.c' }, region: { startLine: 1 } };
  const result = {
    ruleId: 'x1',
    message: { text: 'Seen by another' },
    locations: [{ physicalLocation: place }],
  };
  const run = { tool: { driver: { name: 'OtherTool' } }, results: [result] };
  const log = path.join(editor.folder, 'other.sarif');
  writeFileSync(log, JSON.stringify({ version: '2.1.0', runs: [run] }));
  await editor.command('Jarvis: Import SARIF…');
  await editor.quickInput.getByText(/Import SARIF/).waitFor();
  await editor.answer(log);
  await editor.told('Results imported from OtherTool (SARIF): 1. Left out: 0');
  await editor.openProblems();
  await editor.problem(/Seen by another.*OtherTool \(SARIF\)/).waitFor();
  await editor.command('Jarvis: Clear Imported Results');
  await editor.problem('Seen by another').waitFor({ state: 'hidden' });
  await (await editor.openQuickInput('F1', '>')).fill('>jarvis: import');
  const first = editor.quickInput.locator('.monaco-list-row .label-name').first();
  await until('nothing to clear', async () => (await first.innerText()).includes('Import SARIF'));
  await editor.page.keyboard.press('Escape');
});
