// The side panel in a real VS Code, against a scripted model: chat, consent, diffs by hunk, the way
// back, three levels of agents, a session that outlives the server, Chinese, no model.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('');
const FREED = '#include <stdlib.h>\n\nvoid twice(char *p) {\n  free(p);\n  free(p);\n}\n';

describe('with a model', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  let model;
  let editor;
  let panel;
  before(async () => {
    model = await startModel();
    model.configure(home);
    editor = await openWorkbench({
      files: { 'list.txt': LINES, 'twice.c': FREED },
      env: { JARVIS_HOME: home },
    });
    panel = await Panel.open(editor);
    await panel.page.getByText('How can I help?').waitFor();
  });
  after(async () => {
    await editor?.close();
    await model?.close();
    await removed(home);
  });

  test('an answer streams in', async () => {
    await model.script({
      say: 'The copy in `twice` frees **p** again:\n\n```c\nfree(p);\n```\n\nSee [it](twice.c#L5).',
      thinking: 'Two calls of free.',
      pieces: 12,
      delay: 0.02,
    });
    await panel.say('What is wrong here?');
    await panel.answered('frees p again');
    await panel.rest();
    await panel.page.locator('.answer .code-block').waitFor();
    await panel.page.locator('.answer a').click();
    await editor.page.locator('.tab.active[data-resource-name="twice.c"]').waitFor();
    await panel.page.locator('.answer summary').click();
    await panel.page.getByText('Two calls of free.').waitFor();
    await panel.picture('chat');
  });

  test('a new file is allowed, another denied', async () => {
    const write = (file_path) => [['rewrite_file', { file_path, content: 'made\n' }]];
    await model.script(
      { calls: write('new.txt') },
      { calls: write('other.txt') },
      { say: 'As you said.' },
    );
    await panel.say('Write two files');
    await panel.page.getByRole('button', { name: 'Accept all' }).click();
    await until('new.txt is written', () => existsSync(path.join(editor.folder, 'new.txt')));
    await panel.page.locator('.consent', { hasText: 'other.txt' }).waitFor();
    await panel.page.getByLabel('Tell the agent why').fill('not that one');
    await panel.page.getByRole('button', { name: 'Reject' }).click();
    await panel.answered('As you said.');
    await panel.rest();
    assert.equal(existsSync(path.join(editor.folder, 'other.txt')), false);
    assert.equal(editor.read('new.txt'), 'made\n');
  });

  test('an edit is taken by hunk, and shown as a diff in the editor', async () => {
    const content = LINES.replace('line 2\n', 'LINE 2\n').replace('line 20\n', 'LINE 20\n');
    await model.script(
      { calls: [['read_code', { files: [{ path: 'list.txt' }] }]] },
      { calls: [['rewrite_file', { file_path: 'list.txt', content }]] },
      { say: 'Partly done.' },
    );
    await panel.say('Change the list');
    const card = panel.page.locator('.consent', { hasText: 'list.txt' });
    await card.getByRole('checkbox', { name: 'Change 2' }).uncheck();
    await panel.picture('hunks');
    assert.deepEqual(await panel.violations(), []);
    await card.getByRole('button', { name: /Compare in the editor/ }).click();
    const changed = editor.page.locator('.monaco-diff-editor .editor.modified .view-line');
    await changed.filter({ hasText: /LINE\s20/ }).waitFor();
    await card.getByRole('button', { name: 'Accept 1 of 2' }).click();
    await panel.answered('Partly done.');
    await panel.rest();
    await changed.filter({ hasText: /line\s20/ }).waitFor();
    await changed.filter({ hasText: /LINE\s2\s*$/ }).waitFor();
    assert.ok(editor.read('list.txt').includes('LINE 2\n'));
    assert.ok(editor.read('list.txt').includes('line 20\n'));
    await panel.tab('explorer');
    await panel.page.locator('.file .path', { hasText: 'list.txt' }).waitFor();
    await panel.page.locator('.file .path', { hasText: 'new.txt' }).waitFor();
    await panel.picture('explorer');
    assert.deepEqual(await panel.violations(), []);
    await panel.tab('chat');
  });

  test('the diff itself accepts what waits, but for what was left out in the panel', async () => {
    const before = editor.read('list.txt');
    const content = before.replace('line 3\n', 'LINE 3\n').replace('line 21\n', 'LINE 21\n');
    const read = { calls: [['read_code', { files: [{ path: 'list.txt' }] }]] };
    const edit = { calls: [['rewrite_file', { file_path: 'list.txt', content }]] };
    await model.script(read, edit, { say: 'Refused.' }, edit, { say: 'Accepted.' });
    const open = async () => {
      const card = panel.page.locator('.consent', { hasText: 'list.txt' });
      await card.getByRole('checkbox', { name: 'Change 2' }).uncheck();
      await card.getByRole('button', { name: /Compare in the editor/ }).click();
      const changed = editor.page.locator('.monaco-diff-editor .editor.modified .view-line');
      await changed.filter({ hasText: /LINE\s21/ }).waitFor();
    };
    const title = editor.page.locator('.editor-actions');
    await panel.say('Change it again');
    await open();
    await panel.picture('diff-title');
    await title.getByRole('button', { name: 'Refuse the Change' }).click();
    await panel.answered('Refused.');
    await panel.rest();
    assert.equal(editor.read('list.txt'), before);
    await panel.say('And again');
    await open();
    await title.getByRole('button', { name: 'Accept the Change' }).click();
    await panel.answered('Accepted.');
    await panel.rest();
    assert.equal(editor.read('list.txt'), before.replace('line 3\n', 'LINE 3\n'));
    await title.getByRole('button', { name: 'Accept the Change' }).waitFor({ state: 'detached' });
  });

  test('the way back brings files and conversation to before a message', async () => {
    const said = panel.page.locator('.row.user', { hasText: 'Change the list' });
    await said.hover();
    await said.getByRole('button', { name: 'Restore to before this message' }).click();
    await panel.page.getByRole('menuitem', { name: 'Files and conversation' }).click();
    await editor.page
      .locator('.monaco-dialog-box')
      .getByRole('button', { name: 'Restore' })
      .click();
    await until('list.txt is as it was', () => editor.read('list.txt') === LINES);
    await said.waitFor({ state: 'detached' });
    await until(
      'what was said is there to be changed',
      async () => (await panel.field.inputValue()) === 'Change the list',
    );
    await panel.field.fill('');
  });

  test('stop is at once', async () => {
    await model.script({
      say: 'A long answer that never comes to its end.',
      pieces: 8,
      stall_after: 3,
    });
    await panel.say('Tell me all');
    await panel.page.getByRole('button', { name: 'Stop (Esc)' }).click();
    await panel.rest();
  });

  test('a message said meanwhile is queued and can be taken back', async () => {
    await model.script({ say: 'Slowly, one word after another.', pieces: 8, stall_after: 5 });
    await panel.say('Go slowly');
    await panel.answered('Slowly');
    await panel.say('and quickly');
    const queued = panel.page.locator('.row.queued');
    await queued.getByRole('button', { name: 'Remove from queue', exact: true }).click();
    await queued.waitFor({ state: 'detached' });
    await panel.page.getByRole('button', { name: 'Stop (Esc)' }).click();
    await panel.rest();
    assert.equal(await panel.page.getByText('and quickly').count(), 0);
  });

  test('three levels of agents are seen, paused, gone on with and cancelled', async () => {
    const give = (name, more = {}) => [
      'sub_agent',
      { task: `[${name}] do it`, title: name, ...more },
    ];
    const slow = { say: 'Much to say about this, word by word by word.', pieces: 40, delay: 1.5 };
    await model.script(
      { calls: [give('callers'), give('fuzzing')] },
      { of: 'callers', calls: [give('net')] },
      { of: 'net', ...slow },
      { of: 'fuzzing', ...slow },
      { say: 'All reports are in.' },
    );
    await panel.say('Ask three agents');
    await panel.tab('agents');
    const title = (name) => panel.page.locator('.node-title', { hasText: name });
    const row = (name) => panel.page.locator('.tree-row').filter({ has: title(name) });
    await panel.page
      .locator('.tree-row[aria-level="3"]')
      .filter({ has: title('net') })
      .waitFor();
    await panel.picture('agents');
    assert.deepEqual(await panel.violations(), []);
    const act = async (name, what) => {
      await row(name).click();
      await panel.page.locator(`.detail [data-part="${what}"]`).click();
    };
    await act('net', 'pause');
    await until(
      'net is paused',
      async () => (await row('net').getAttribute('data-state')) === 'paused',
    );
    await act('net', 'resume');
    await until(
      'net runs',
      async () => (await row('net').getAttribute('data-state')) === 'running',
    );
    await act('callers', 'cancel');
    for (const name of ['callers', 'net']) {
      await until(
        `${name} is cancelled`,
        async () => (await row(name).getAttribute('data-state')) === 'cancelled',
      );
    }
    await act('fuzzing', 'cancel');
    await panel.tab('chat');
    await panel.answered('All reports are in.');
    await panel.rest();
  });

  test('the session is there again after the server was killed', async () => {
    const pid = await editor.serverStarted();
    process.kill(pid, 'SIGKILL');
    await editor.serverStarted(2);
    await panel.answered('All reports are in.');
    const said = panel.page.locator('.row.user', { hasText: 'Ask three agents' });
    await until('it is there once', async () => (await said.count()) === 1);
    await model.script({ say: 'Still here.' });
    await panel.say('Are you there?');
    await panel.answered('Still here.');
    await panel.rest();
  });

  test('sessions are listed, and one is come back to', async () => {
    await editor.command('Jarvis: New Session');
    await panel.page.getByText('How can I help?').waitFor();
    await model.script({ say: 'Another one.' });
    await panel.say('A second session');
    await panel.answered('Another one.');
    await panel.rest();
    await panel.page.locator('.title-button').click();
    await until('two sessions', async () => (await panel.page.locator('.session').count()) === 2);
    assert.deepEqual(await panel.violations(), []);
    await panel.picture('sessions');
    await panel.page.locator('.session').last().click();
    await panel.answered('Still here.');
  });

  test('draft and place are there again after the view was hidden', async () => {
    await panel.field.fill('half a thought');
    await panel.page.locator('.composer').click();
    await panel.passes(500); // it keeps what is typed when the user rests
    await editor.command('Jarvis: Show Findings');
    await editor.findings.waitFor();
    await Panel.open(editor);
    await panel.answered('Still here.');
    await until(
      'the draft is there',
      async () => (await panel.field.inputValue()) === 'half a thought',
    );
  });

  for (const [tab, answered] of [
    ['memory', '.memory .nothing'],
    ['settings', '.settings .file-name'],
  ]) {
    test(`no rule of axe is broken in ${tab}`, async () => {
      await panel.tab(tab);
      await panel.page.locator(answered).first().waitFor();
      await panel.picture(tab);
      assert.deepEqual(await panel.violations(), []);
    });
  }
});

describe('without a model, in Chinese and high contrast', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  let editor;
  after(async () => {
    await editor?.close();
    await removed(home);
  });

  test('the panel says what to set, and commands work', async () => {
    editor = await openWorkbench({
      files: { 'twice.c': FREED },
      locale: 'zh-cn',
      settings: { 'workbench.colorTheme': 'Default High Contrast' },
      env: { JARVIS_HOME: home },
    });
    const panel = await Panel.open(editor, 'Jarvis: 打开对话（聊天）');
    await panel.page.getByText('尚未配置模型').waitFor();
    await panel.picture('no-model');
    assert.deepEqual(await panel.violations(), []);
    await panel.say('/scan');
    await panel.page.locator('.row', { hasText: 'double-free' }).waitFor();
    await panel.picture('scan');
    assert.deepEqual(await panel.violations(), []);
  });
});
