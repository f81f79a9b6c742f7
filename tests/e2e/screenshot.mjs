// node tests/e2e/screenshot.mjs [findings|panel|migration ...]: takes the pictures of the README in
// media/ from a real workbench on the C project of tests/workspaces.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT, task } from '../../scripts/process.mjs';
import { buildClient, setUpPackages } from '../../scripts/setup/client.mjs';
import { setUpPython } from '../../scripts/setup/python.mjs';
import { requireTools, TOOLS } from '../../scripts/setup/tools.mjs';
import { installHost } from '../../scripts/setup/vscode-host.mjs';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, TOOLCHAIN } from './workbench.mjs';

const PROJECT = path.join(ROOT, 'tests', 'workspaces', 'inventory');
const FILES = Object.fromEntries(sources().map((name) => [name, read(name)]));
const STORE = 'src/store.c';
/** A finding worth showing, by the text of its line. */
const FREED = 'article->name, article->note';
const SIZE = { width: 1280, height: 760 };
const PICTURES = { findings, panel, migration };

await task(async () => {
  await setUpPython();
  await setUpPackages();
  await buildClient();
  await requireTools(TOOLS.test);
  await installHost();
  const chosen = process.argv.slice(2);
  for (const [name, take] of Object.entries(PICTURES)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const file = path.join(ROOT, 'media', name === 'findings' ? 'screenshot.png' : `${name}.png`);
    await take(file);
    console.log(path.relative(ROOT, file));
  }
});

/**
 * Squiggles, the hover of a finding, and the findings view.
 * @param {string} picture
 */
async function findings(picture) {
  await open({}, async (editor) => {
    await editor.openFindings();
    await editor.finding('store.c').first().waitFor();
    await editor.open(STORE);
    await editor.squiggles.first().waitFor();
    const line = lineOf(FREED);
    await editor.goTo(line, read(STORE).split('\n')[line - 1]?.indexOf('->note') ?? 1);
    await editor.command('Show or Focus Hover');
    await editor.page.locator('.monaco-hover:visible').first().waitFor();
    await editor.picture(picture);
  });
}

/**
 * An agent's proposal of two changes, one of which is left out.
 * @param {string} picture
 */
async function panel(picture) {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  const model = await startModel();
  model.configure(home);
  try {
    await open({ env: { JARVIS_HOME: home } }, async (editor) => {
      const chat = await Panel.open(editor);
      await editor.open(STORE);
      await editor.squiggles.first().waitFor();
      await editor.goTo(lineOf(FREED));
      await model.script(
        { calls: [['read_code', { files: [{ path: STORE }] }]] },
        { calls: [['rewrite_file', { file_path: STORE, content: repaired() }]] },
        { say: 'Done.' },
      );
      await chat.say('Fix what Jarvis found in store_add and store_remove');
      const card = chat.page.locator('.consent', { hasText: 'store.c' });
      await card.getByRole('checkbox', { name: 'Change 1' }).uncheck();
      await editor.picture(picture);
    });
  } finally {
    await model.close();
    await removed(home);
  }
}

/**
 * A project in Rust: stages, functions, the call graph, and the Rust of a function.
 * @param {string} picture
 */
async function migration(picture) {
  const settings = { 'workbench.colorTheme': 'Default Dark Modern' };
  await open({ env: TOOLCHAIN, settings }, async (editor) => {
    await editor.command('Jarvis: Translate Project to Rust (Convert, Transpile)');
    const done = editor.toast('and the crate builds');
    await done.waitFor();
    await done.getByRole('button', { name: 'Show Functions' }).click();
    const view = editor.page.locator('[id="workbench.view.extension.jarvisLsMigration"]');
    const row = view.locator('.monaco-list-row', { hasText: 'store_remove' }).first();
    const shown = editor.page.locator('.tab[data-resource-name="store.rs"]');
    await editor.click(row, shown);
    await editor.page.locator('.tab[data-resource-name="store.c"]').click();
    await editor.command('Jarvis: Show Migration Overview');
    await editor.webview.locator('g.node').first().waitFor();
    await editor.picture(picture);
  });
}

/**
 * @param {import('./workbench.mjs').Options} options
 * @param {(editor: import('./workbench.mjs').Workbench) => Promise<void>} show
 */
async function open({ settings, ...options }, show) {
  const own = { 'editor.fontSize': 13, ...settings };
  const editor = await openWorkbench({ files: FILES, ...options, settings: own });
  try {
    await editor.page.setViewportSize(SIZE);
    await editor.serverStarted();
    await show(editor);
  } finally {
    await editor.close();
  }
}

/** What the agent makes of the file: the note is printed before it is freed, `malloc` is checked. */
function repaired() {
  const allocation = '    article->note = malloc(strlen(note) + 1);\n';
  const freed = '    free(article->note);\n';
  const printed = '    printf("removed %s (%s)\\n", article->name, article->note);\n';
  return read(STORE)
    .replace(allocation, `${allocation}    if (article->note == NULL)\n        return -1;\n`)
    .replace(freed + printed, printed + freed);
}

/** @param {string} text */
function lineOf(text) {
  const lines = read(STORE).split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

function sources() {
  return readdirSync(PROJECT, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.[ch]$|Makefile$|\.md$/.test(name) && !name.startsWith('.jarvis'),
  );
}

/** @param {string} name */
function read(name) {
  return readFileSync(path.join(PROJECT, name), 'utf8');
}
