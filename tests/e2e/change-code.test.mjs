// Agent mode in the workbench: begun by the code lens and by the palette, its card accepted; a session
// that is opened again asks once more. A scripted model answers over HTTP.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT } from '../../scripts/process.mjs';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const SOURCE = `#include <stdlib.h>

int use(char *p)
{
    free(p);
    return p[0];
}
`;
const strings = path.join(ROOT, 'client-vscode', 'webview', 'strings', 'en.json');
const words = JSON.parse(readFileSync(strings, 'utf8'));

/** @param {string} search @param {string} replace */
const edit = (search, replace) => [
  ['edit_file', { files: [{ file_path: 'a.c', diffs: [{ search, replace }] }] }],
];

describe('code is changed by an agent in a copy', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  let model;
  let editor;
  let panel;
  before(async () => {
    model = await startModel();
    model.configure(home);
    editor = await openWorkbench({
      files: { 'a.c': SOURCE },
      env: { TMPDIR: tmpdir(), JARVIS_HOME: home },
    });
    const git = (/** @type {string[]} */ ...them) =>
      execFileSync('git', them, { cwd: editor.folder });
    git('init', '--quiet');
    git('config', 'user.name', 'A');
    git('config', 'user.email', 'a@example.org');
    git('add', 'a.c');
    git('commit', '--quiet', '-m', 'first');
    panel = await Panel.open(editor);
  });
  after(async () => {
    await editor?.close();
    await model?.close();
    await removed(home);
  });

  /** @param {string} text what the composer then holds */
  const composed = (text) =>
    until(`the composer holds ${text}`, async () => (await panel.field.inputValue()) === text);

  test('by the code lens of a function', async () => {
    await editor.open('a.c');
    const lens = editor.page.locator('.codelens-decoration a', { hasText: 'Change with Jarvis' });
    await lens.first().waitFor();
    await panel.picture('change-lens');
    await editor.click(lens.first(), editor.quickInput);
    await editor.answer('Read before it is freed');
    const task = '/change Read before it is freed (use, a.c:3)';
    await composed(task);
    await model.script(
      { calls: edit('free(p);\n    return p[0];', 'int c = p[0];\n    free(p);\n    return c;') },
      { say: 'It reads first.' },
    );
    await panel.say(task);
    const accept = panel.page.getByRole('button', { name: words['diff.acceptAll'] });
    await accept.waitFor();
    assert.equal(editor.read('a.c'), SOURCE);
    const mode = words['mode.label'].replace('{mode}', words['mode.agent']);
    await panel.page.getByRole('button', { name: mode }).waitFor();
    await panel.picture('change-card');
    assert.deepEqual(await panel.violations(), []);
    await accept.click();
    await until('it is written', () => editor.read('a.c').includes('int c = p[0];'));
    await panel.rest();
  });

  test('by the palette, at the cursor', async () => {
    await editor.open('a.c');
    await editor.goTo(7, 1);
    await editor.command('Jarvis: Change Code with an Agent');
    await editor.answer('Name it better');
    const task = '/change Name it better (a.c:7)';
    await composed(task);
    await panel.field.fill('');
  });
});
