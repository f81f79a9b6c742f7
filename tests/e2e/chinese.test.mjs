// The extension in Simplified Chinese: manifest, user interface and the server's messages.

import { after, before, test } from 'node:test';
import { openWorkbench } from './workbench.mjs';

const ASKS = `#include <stdio.h>

void ask(void) {
  char line[16];
  gets(line);
}
`;
const HAN = /\p{Script=Han}/u;

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  editor = await openWorkbench({ files: { 'ask.c': ASKS }, locale: 'zh-cn' });
  await editor.open('ask.c');
  await editor.squiggles.first().waitFor();
});
after(() => editor.close());

test('commands are found by their Chinese names', async () => {
  await editor.command('Jarvis: 显示安全问题');
  await editor.finding(/^(高|中|低)/).waitFor();
});

test('the obvious Chinese words lead to the obvious command', async () => {
  for (const [words, title] of [
    ['漏洞', '扫描工作区的安全漏洞'],
    ['证明', '通过运行证明（沙箱、模糊测试）'],
    ['聊天', '打开对话（聊天）'],
    ['帮助', '入门指南（帮助）'],
    ['忽略', '抑制（忽略）…'],
    ['转换', '将项目翻译为 Rust（转换、转译）'],
    ['日志', '显示输出（日志）'],
  ]) {
    await editor.firstCommand(words, `Jarvis: ${title}`);
  }
});

test('the status bar and the view speak Chinese', async () => {
  await editor.status.filter({ hasText: '1 个问题' }).waitFor();
  await editor.labelBecomes(editor.finding('ask.c:5'), /规则 gets-call，ask\.c，第 5 行$/);
});

test('messages of the server are Chinese', async () => {
  await editor.openProblems();
  await editor.labelBecomes(editor.problem('gets-call'), HAN);
});

test('the questions of a command are Chinese', async () => {
  await editor.open('ask.c');
  await editor.goTo(5, 4);
  await editor.command('Jarvis: 抑制（忽略）…');
  await editor.quickInput.locator('.monaco-list-row', { hasText: '整个函数' }).waitFor();
  await editor.page.keyboard.press('Escape');
});

test('the empty view is Chinese', async () => {
  await editor.command('Jarvis: 按文字筛选…');
  await editor.answer('nothing-has-this-name');
  await editor.findings.getByText('没有符合筛选条件的问题').waitFor();
  await editor.findings.getByText('清除筛选').click();
  await editor.finding('ask.c:5').waitFor();
});
