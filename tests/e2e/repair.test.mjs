// Repairing a finding in the workbench: the patch of a scripted model passes the gates, is shown as a
// diff, and is in the file only after the user has accepted it.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const PROGRAM = `#include <stdio.h>
#include <string.h>

static void copy(const char *text)
{
    char place[16];
    strcpy(place, text);
    puts(place);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        copy(argv[1]);
    return 0;
}
`;
const COPY = '    strcpy(place, text);\n';
const CHECK = `    if (strlen(text) >= sizeof place) {
        puts("too long");
        return;
    }
`;
const ANSWER = {
  status: 'repaired',
  cause: 'There is no bound.',
  change: 'The length is checked.',
};
/** Gates build and run programs, for ten seconds of random runs alone. */
const GATES_MS = 400_000;
const PICTURES = process.env.JARVIS_E2E_PICTURES;

for (const [locale, words] of [
  [
    'en',
    {
      fix: /Fix with Jarvis/,
      passed: 'passed all gates',
      accept: 'Accept',
      missing: 'Set Up a Model',
    },
  ],
  [
    'zh-cn',
    { fix: /用 Jarvis 修复/, passed: '通过了所有关卡', accept: '接受', missing: '设置模型' },
  ],
]) {
  describe(`a repair, ${locale}`, () => {
    const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
    let model;
    /** @type {import('./workbench.mjs').Workbench} */
    let editor;
    before(async () => {
      model = await startModel();
      editor = await openWorkbench({
        files: { 'a.c': PROGRAM },
        locale,
        // The sandbox works as another user, who must be able to come to its files.
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
        await editor.picture(path.join(PICTURES, `repair-${name}-${locale}.png`));
      }
    }

    async function ask() {
      await editor.goTo(7, 8);
      await editor.quickFix(words.fix);
    }

    test('without a model it says what to set up', async () => {
      await ask();
      await editor.told(words.missing, GATES_MS);
      const message = editor.toast(words.missing);
      await picture('no-model');
      await message.locator('.codicon-notifications-clear').click();
    });

    test('a patch that passed is shown as a diff and written when it is accepted', async () => {
      model.configure(home);
      const diffs = [{ search: COPY, replace: CHECK + COPY }];
      // To the scripted model the first that is in brackets, of `argv[1]`, names the agent.
      await model.script(
        { of: '1', calls: [['edit_file', { files: [{ file_path: 'a.c', diffs }] }]] },
        { of: '1', say: JSON.stringify(ANSWER) },
      );
      await ask();
      await editor.told(words.passed, GATES_MS);
      const message = editor.toast(words.passed);
      await picture('diff');
      await editor.page.locator('.monaco-diff-editor').first().waitFor();
      assert.equal(editor.read('a.c'), PROGRAM);
      await message.getByRole('button', { name: words.accept }).click();
      await until(
        'it is written',
        () => editor.read('a.c') === PROGRAM.replace(COPY, CHECK + COPY),
      );
      await until('the diff is closed', async () => {
        return (await editor.page.locator('.monaco-diff-editor').count()) === 0;
      });
      await picture('accepted');
    });
  });
}
