// Auto mode in the panel of a real VS Code: begun by its button, its plan a graph with live state; it
// works on when the panel is closed, and its end is told. A scripted model answers over HTTP.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../scripts/process.mjs';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const TASKS = { a: [], b: [], c: ['a', 'b'] };
const PLAN = {
  should_split: true,
  background: 'Shared.',
  subtasks: Object.entries(TASKS).map(([id, dependencies]) => ({
    id,
    title: `Task ${id}`,
    task: `DO-${id} now`,
    dependencies,
  })),
};

for (const [locale, title, told] of [
  ['en', 'Jarvis: Open Chat', 'Auto mode has completed its 3 tasks.'],
  ['zh-cn', 'Jarvis: 打开对话（聊天）', '自动模式'],
]) {
  test(`auto mode in the panel, ${locale}`, async () => {
    const strings = path.join(ROOT, 'client-vscode', 'webview', 'strings', `${locale}.json`);
    const words = JSON.parse(readFileSync(strings, 'utf8'));
    const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
    const model = await startModel('--auto');
    model.configure(home, ['[auto]', 'interval = 60.0']);
    await model.auto({ plan: PLAN, held: ['DO-b'] });
    const files = { 'list.txt': 'line\n'.repeat(400) };
    const editor = await openWorkbench({ files, locale, env: { JARVIS_HOME: home } });
    try {
      const panel = await Panel.open(editor, title);
      await panel.field.fill('Document the library');
      await panel.page.locator('[data-part=auto]').click();
      assert.equal(await panel.field.inputValue(), '/auto Document the library');
      await panel.say('/auto Document the library');
      const task = (/** @type {string} */ id, /** @type {string} */ state) =>
        panel.page.locator(`.task[data-id="${id}"][data-state=${state}]`);
      await task('a', 'done').waitFor();
      await task('b', 'running').waitFor();
      await task('c', 'waiting').waitFor();
      const spoken = await task('c', 'waiting').getAttribute('aria-label');
      assert.match(spoken ?? '', new RegExp(words['task.waiting']));
      await panel.picture(`auto-${locale}`);
      assert.deepEqual(await panel.violations(), []);
      await editor.page.keyboard.press('Control+Shift+E'); // another view in the panel's place
      await panel.page.locator('.tasks').waitFor({ state: 'hidden' });
      await model.auto({ release: true });
      const toast = editor.toast(told);
      await toast.waitFor();
      await panel.picture(`auto-told-${locale}`);
      await toast.getByRole('button').first().click();
      await panel.page.locator('.tasks[data-state=done]').waitFor();
      await until('all are done', async () => {
        return (await panel.page.locator('.task[data-state=done]').count()) === 3;
      });
      await panel.answered('All is summed up.');
    } finally {
      await editor.close();
      await model.close();
      await removed(home);
    }
  });
}
