// What the side panel and the editor do for each other in a real VS Code: keys in secret storage, the
// selection as context, files that are open when an agent changes them.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const KEY = 'sk-only-in-secret-storage-0815';
const NOTES = 'first\nsecond\nthird\n';

describe('the panel beside the editor', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  let model;
  let editor;
  let panel;
  let page;
  before(async () => {
    model = await startModel();
    const settings = [
      '[model_providers.scripted]',
      `base = "${model.url}"`,
      'env_keys = ["SCRIPTED_KEY"]',
      '[model_groups.balanced]',
      'models = ["scripted/scripted"]',
      '',
    ];
    writeFileSync(path.join(home, 'config.toml'), settings.join('\n'));
    editor = await openWorkbench({ files: { 'notes.txt': NOTES }, env: { JARVIS_HOME: home } });
    panel = await Panel.open(editor);
    page = panel.page;
  });
  after(async () => {
    await editor?.close();
    await model?.close();
    await removed(home);
  });

  async function answered(text) {
    await panel.answered(text);
    await panel.rest();
  }

  test('a key is asked for once, kept in secret storage, and used', async () => {
    await page.getByText('No model is configured').waitFor();
    await editor.command('Jarvis: Set API Key…');
    await editor.pick('SCRIPTED_KEY');
    await editor.answer(KEY);
    await page.getByText('How can I help?').waitFor();
    await model.script({ say: 'The key was taken.' });
    await panel.say('Hello');
    await answered('The key was taken.');
    const ready = editor.page.locator('[aria-label*="Model: ready."]');
    await editor.status.filter({ has: ready }).waitFor();
  });

  test('the key is there again after the server was restarted, and in no file', async () => {
    await editor.command('Jarvis: Restart Server');
    await editor.serverStarted(2);
    await page.locator('.answer', { hasText: 'The key was taken.' }).waitFor();
    await model.script({ say: 'Still known.' });
    await panel.say('Again');
    await answered('Still known.');
    for (const file of filesBelow(home)) {
      assert.ok(!readFileSync(file).includes(KEY), file);
    }
    assert.ok(!editor.log().includes(KEY));
  });

  test('code of an answer is put at the cursor', async () => {
    await editor.open('notes.txt');
    await editor.goTo(1);
    await model.script({ say: '```\nput here\n```' });
    await panel.say('Which line?');
    await page.getByRole('button', { name: 'Insert at cursor' }).click();
    await editor.page.locator('.view-line', { hasText: /^put.here/ }).waitFor();
    await panel.rest();
    await editor.goTo(1);
    await editor.page.keyboard.press('Control+Z');
    await editor.page.locator('.view-line', { hasText: /^first$/ }).waitFor();
  });

  test('the selection goes along', async () => {
    await editor.open('notes.txt');
    await editor.goTo(2);
    await editor.command('Jarvis: Add Selection to Chat');
    await page.locator('.composer', { hasText: 'notes.txt' }).waitFor();
    await model.script({ say: 'Seen.' });
    await panel.say('What is this?');
    await answered('Seen.');
    await page.locator('.entry, .user', { hasText: 'second' }).first().waitFor();
  });

  test('a file that is open is changed in the editor and saved', async () => {
    await editor.open('notes.txt');
    await model.script(
      { calls: [['read_code', { files: [{ path: 'notes.txt' }] }]] },
      { calls: [['rewrite_file', { file_path: 'notes.txt', content: 'first\n2\nthird\n' }]] },
      { say: 'It is changed.' },
    );
    await panel.say('Change the second line');
    await page.getByRole('button', { name: 'Accept all' }).click();
    await answered('It is changed.');
    await until('it is saved', () => editor.read('notes.txt') === 'first\n2\nthird\n');
    await editor.page.locator('.tab.active:not(.dirty)').waitFor();
    await editor.page.locator('.view-line', { hasText: /^2$/ }).waitFor();
  });

  test('a part of a change is refused by its button in the diff, the rest is accepted there', async () => {
    const lines = [...'abcdefghijklmnopqrst'];
    writeFileSync(path.join(editor.folder, 'letters.txt'), `${lines.join('\n')}\n`);
    const wanted = lines.map((it) => (it === 'b' || it === 'r' ? it.toUpperCase() : it));
    const content = `${wanted.join('\n')}\n`;
    await model.script(
      { calls: [['read_code', { files: [{ path: 'letters.txt' }] }]] },
      { calls: [['rewrite_file', { file_path: 'letters.txt', content }]] },
      { say: 'One of two.' },
    );
    await panel.say('Change two lines');
    await editor.click(
      page.getByRole('button', { name: 'Compare in the editor: letters.txt' }),
      editor.page.locator('.tab.active', { hasText: 'letters.txt (changed by Jarvis)' }),
    );
    const part = (/** @type {string} */ text) =>
      editor.page.locator('.review-widget', { hasText: text });
    await part('Change 1 of 2: accepted').waitFor();
    await editor.click(
      part('Change 2 of 2: accepted').getByRole('button', { name: 'Refuse This Part' }),
      part('Change 2 of 2: refused'),
    );
    await page.getByRole('button', { name: 'Accept 1 of 2' }).waitFor();
    await page.getByRole('checkbox', { name: 'Change 2' }).check();
    await part('Change 2 of 2: accepted').waitFor();
    await page.getByRole('checkbox', { name: 'Change 1' }).uncheck();
    await part('Change 1 of 2: refused').waitFor();
    await panel.picture('diff-beside');
    await editor.page.getByRole('button', { name: 'Accept the Change' }).first().click();
    await answered('One of two.');
    const half = lines.map((it) => (it === 'r' ? 'R' : it)).join('\n');
    await until('that part is written', () => editor.read('letters.txt') === `${half}\n`);
    await editor.page.locator('.review-widget').waitFor({ state: 'detached' });
  });

  test('what is not saved is not lost', async () => {
    await editor.open('notes.txt');
    await editor.goTo(1);
    await editor.page.keyboard.type('unsaved ');
    await editor.page.locator('.tab.active.dirty').waitFor();
    await model.script(
      { calls: [['read_code', { files: [{ path: 'notes.txt' }] }]] },
      { calls: [['rewrite_file', { file_path: 'notes.txt', content: 'all new\n' }]] },
      { say: 'I could not.' },
    );
    await panel.say('Change all of it');
    await page.getByRole('button', { name: 'Accept all' }).click();
    await answered('I could not.');
    assert.equal(editor.read('notes.txt'), 'first\n2\nthird\n');
    await editor.page.locator('.view-line', { hasText: 'unsaved first' }).waitFor();
  });
});

/** @param {string} folder */
function* filesBelow(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, String(name));
    if (statSync(file).isFile()) yield file;
  }
}

describe('several folders', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  let model;
  let editor;
  let panel;
  before(async () => {
    model = await startModel();
    model.configure(home);
    editor = await openWorkbench({
      folders: ['client', 'server'],
      files: { 'client/own.txt': NOTES, 'server/theirs.txt': NOTES },
      env: { JARVIS_HOME: home },
    });
    panel = await Panel.open(editor);
  });
  after(async () => {
    await editor?.close();
    await model?.close();
    await removed(home);
  });

  test('a link that begins with the name of another folder opens the file there', async () => {
    await model.script({ say: 'Look at [theirs](server/theirs.txt#L2), then [ours](own.txt).' });
    await panel.say('What is in @server/theirs.txt?');
    await panel.answered('Look at theirs');
    await panel.rest();
    await panel.page.locator('.answer a', { hasText: 'theirs' }).click();
    await editor.page.locator('.tab.active[data-resource-name="theirs.txt"]').waitFor();
    await panel.page.locator('.answer a', { hasText: 'ours' }).click();
    await editor.page.locator('.tab.active[data-resource-name="own.txt"]').waitFor();
  });
});
