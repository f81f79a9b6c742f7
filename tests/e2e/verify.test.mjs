// Agents verify and explain a finding in the workbench; a scripted model answers them over HTTP.

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const PROGRAM = `#include <stdio.h>
#include <string.h>

void copy(const char *text)
{
    char place[16];
    strcpy(place, text);
    puts(place);
}
`;
const PICTURES = process.env.JARVIS_E2E_PICTURES;

for (const [locale, words] of [
  [
    'en',
    {
      verify: /Verify with agents/,
      explain: /Explain with Jarvis/,
      verdict: 'Agents: a flaw',
      show: 'Show What Agents Said',
      page: 'Trigger path',
      question: 'Explain finding',
    },
  ],
  [
    'zh-cn',
    {
      verify: /用智能体核实/,
      explain: /用 Jarvis 解释/,
      verdict: '智能体：',
      show: '显示智能体的说明',
      page: '触发路径',
      question: '请解释问题',
    },
  ],
]) {
  describe(`agents and a finding, ${locale}`, () => {
    const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
    let model;
    /** @type {import('./workbench.mjs').Workbench} */
    let editor;
    before(async () => {
      model = await startModel('--security');
      model.configure(home);
      editor = await openWorkbench({
        files: { 'a.c': PROGRAM },
        locale,
        env: { TMPDIR: tmpdir(), JARVIS_HOME: home },
      });
      await editor.open('a.c');
      await editor.squiggles.first().waitFor();
    });
    after(async () => {
      await editor?.close();
      await model?.close();
      await removed(home);
    });

    /** @param {string} name */
    async function picture(name) {
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        await editor.picture(path.join(PICTURES, `verify-${name}-${locale}.png`));
      }
    }

    test('a message says what they conclude, a page why', async () => {
      await editor.goTo(7, 8);
      await editor.quickFix(words.verify);
      const message = editor.toast(words.verdict);
      await message.waitFor({ timeout: 120_000 });
      await editor.page.locator('.codelens-decoration', { hasText: words.verify }).waitFor();
      await picture('verdict');
      await message.getByRole('button', { name: words.show }).click();
      await editor.webview.getByText(words.page).first().waitFor();
      await picture('page');
      await editor.page.keyboard.press('Control+W');
    });

    test('the hover says it from then on', async () => {
      await editor.open('a.c');
      await editor.goTo(7, 8);
      await editor.page.keyboard.press('Control+K');
      await editor.page.keyboard.press('Control+I');
      await editor.page.locator('.monaco-hover', { hasText: words.verdict }).first().waitFor();
      await picture('hover');
      await editor.page.keyboard.press('Escape');
    });

    test('a question about it is put into the chat, and not sent', async () => {
      await editor.goTo(7, 8);
      await editor.quickFix(words.explain);
      const { field } = new Panel(editor);
      await until('it is in the field', async () => {
        return (await field.inputValue()).startsWith(words.question);
      });
      await picture('question');
    });
  });
}
