// A Chinese panel with a model: what the runtime says of a wrong key, a budget and a permission.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed } from './workbench.mjs';

const ENGLISH = /\b(the|is|are|was|not|with|this|which|allow|deny|key|budget)\b/i;
const RULE = [
  '[[permissions]]',
  'effect = "deny"',
  'target = "secret*"',
  '[agents]',
  'tokens = 50',
];
const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
/** @type {Awaited<ReturnType<typeof startModel>>} */
let model;
/** @type {import('./workbench.mjs').Workbench} */
let editor;
/** @type {Panel} */
let panel;

before(async () => {
  model = await startModel();
  model.configure(home, RULE);
  const files = { 'secret.txt': 'x\n', 'a.c': 'int a;\n' };
  editor = await openWorkbench({ files, locale: 'zh-cn', env: { JARVIS_HOME: home } });
  panel = await Panel.open(editor, 'Jarvis: 打开对话（聊天）');
});
after(async () => {
  await editor?.close();
  await model?.close();
  await removed(home);
});

test('a question on the budget is asked and answered in Chinese', async () => {
  await model.script({ refuse: 401, message: 'bad' });
  await panel.say('你好');
  const question = panel.page.locator('.row', { hasText: '下一次模型调用会超出预算' });
  await question.waitFor();
  assert.doesNotMatch(await question.innerText(), ENGLISH);
  await panel.picture('budget-chinese');
  await question.getByText('不设上限继续').click();
});

test('a wrong key is told in Chinese, with what to do', async () => {
  const notice = panel.page.locator('.row', { hasText: '密钥被拒绝（HTTP 401）' });
  await notice.waitFor();
  assert.doesNotMatch(await notice.innerText(), ENGLISH);
  await panel.rest();
});

test('a permission is asked for, and a refusal told, in Chinese', async () => {
  await model.script(
    { calls: [['read_code', { files: [{ path: '/etc/hostname' }] }]] },
    { calls: [['read_code', { files: [{ path: 'secret.txt' }] }]] },
    { say: '不能读取。' },
  );
  await panel.say('读一下');
  const asked = panel.page.locator('.row', { hasText: '它位于工作区之外。' });
  await asked.waitFor();
  await panel.picture('permission-chinese');
  assert.doesNotMatch(await asked.innerText(), ENGLISH);
  await asked.getByRole('button', { name: '拒绝' }).click();
  await panel.answered('不能读取。');
  await panel.page.locator('.row', { hasText: '有权限规则拒绝：secret*' }).waitFor();
  assert.deepEqual(await panel.violations(), []);
});
