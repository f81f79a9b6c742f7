// A day's work in the panel of a real VS Code: a plan that is carried out, edits that are accepted
// unseen, a script in the background with what it changed; and the same script in Chinese.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT } from '../../scripts/process.mjs';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const ALLOWED = ['[[permissions]]', 'effect = "allow"', 'kind = "execute"'];
const SCRIPT =
  'for n in 1 2 3; do echo "compiling part $n"; sleep 0.3; done; until [ -e stop ]; do sleep 0.2; ' +
  '[ $((i += 1)) -lt 400 ] || break; done';
const BUILT = 'echo "compiling all"; sleep 2; echo "3 files" >built.txt';

const STORE = `#include <stdlib.h>

void store_free(struct store *store)
{
    free(store->items);
    free(store->items);
}
`;
const ONCE = STORE.replace(/free\(store->items\);\n}/, 'store->items = NULL;\n}');

/** @param {string} content */
const rewrite = (content) => [['rewrite_file', { file_path: 'list.txt', content }]];

for (const [locale, title] of [
  ['en', 'Jarvis: Open Chat'],
  ['zh-cn', 'Jarvis: 打开对话（聊天）'],
]) {
  const strings = path.join(ROOT, 'client-vscode', 'webview', 'strings', `${locale}.json`);
  const words = JSON.parse(readFileSync(strings, 'utf8'));
  const language = locale === 'en' ? '' : `.${locale}`;
  const titles = JSON.parse(readFileSync(path.join(ROOT, `package.nls${language}.json`), 'utf8'));
  const bundle = path.join(ROOT, 'l10n', 'bundle.l10n.zh-cn.json');
  const chinese = JSON.parse(readFileSync(bundle, 'utf8'));
  const said = (/** @type {string} */ text) => (locale === 'en' ? text : chinese[text]);
  describe(`a day's work, ${locale}`, () => {
    const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
    let model;
    let editor;
    let panel;
    before(async () => {
      model = await startModel();
      model.configure(home, ALLOWED);
      const files = { 'list.txt': 'one\ntwo\n', 'src/store.c': STORE };
      editor = await openWorkbench({ files, locale, env: { JARVIS_HOME: home } });
      panel = await Panel.open(editor, title);
    });
    after(async () => {
      await editor?.close();
      await model?.close();
      await removed(home);
    });

    const choose = async (name) => {
      await panel.page.locator('.mode-button').click();
      await panel.page.getByRole('menuitemradio', { name }).click();
    };
    const picture = (name) => panel.picture(`${name}-${locale}`);

    test('a plan is made, nothing is changed, and it is carried out', async () => {
      await choose(words['mode.plan']);
      await model.script(
        { calls: [['read_code', { files: [{ path: 'list.txt' }] }]] },
        { calls: rewrite('ONE\ntwo\n') },
        { say: '1. `list.txt`: **one** → **ONE**.' },
      );
      await panel.say('one → ONE');
      await panel.answered('ONE');
      await panel.rest();
      assert.equal(editor.read('list.txt'), 'one\ntwo\n');
      await picture('plan');
      assert.deepEqual(await panel.violations(), []);
      await model.script({ calls: rewrite('ONE\ntwo\n') }, { say: 'OK' });
      await panel.page.getByRole('button', { name: words['mode.carryOut'] }).click();
      await panel.page.getByRole('button', { name: words['diff.acceptAll'] }).click();
      await until('it is written', () => editor.read('list.txt') === 'ONE\ntwo\n');
      await panel.rest();
    });

    test('accepted edits are written and shown in their card', async () => {
      await choose(words['mode.edits']);
      await model.script({ calls: rewrite('ONE\nTWO\n') }, { say: 'TWO' });
      await panel.say('two → TWO');
      await panel.answered('TWO');
      await panel.rest();
      assert.equal(editor.read('list.txt'), 'ONE\nTWO\n');
      await panel.page.locator('.tool-card summary', { hasText: 'list.txt' }).last().click();
      await picture('edits');
      assert.deepEqual(await panel.violations(), []);
    });

    test('code of an answer is applied to its file, once its diff is accepted there', async () => {
      const body = ONCE.slice(ONCE.indexOf('void'));
      await model.script({ say: `In \`src/store.c\`:\n\n\`\`\`c\n${body}\`\`\`\n\nA1.` });
      await panel.say('free');
      await panel.answered('A1.');
      await panel.rest();
      const apply = panel.page.getByRole('button', { name: words['code.apply'] }).last();
      const title = said('{0} (changed by Jarvis)').replace('{0}', 'store.c');
      const tab = editor.page.locator('.tab.active', { hasText: title });
      const decide = async (/** @type {string} */ name) => {
        await editor.page.getByRole('button', { name }).first().click();
        await tab.waitFor({ state: 'detached' });
      };
      await editor.click(apply, tab);
      await picture('apply');
      await decide(titles['command.refuseChange']);
      assert.equal(editor.read('src/store.c'), STORE);
      await editor.click(apply, tab);
      await decide(titles['command.acceptChange']);
      await until('it is written', () => editor.read('src/store.c') === ONCE);
    });

    test('code without a certain place is put nowhere, and the user is asked', async () => {
      await model.script({ say: 'In `src/store.c`:\n\n```c\nputs("hi");\n```\n\nA2.' });
      await panel.say('hi');
      await panel.answered('A2.');
      await panel.rest();
      const apply = panel.page.getByRole('button', { name: words['code.apply'] }).last();
      const whole = editor.page.getByRole('button', { name: said('Replace Whole File') });
      await editor.click(apply, whole);
      await picture('apply-unsure');
      const title = said('{0} (changed by Jarvis)').replace('{0}', 'store.c');
      await whole.click();
      await editor.page.locator('.tab.active', { hasText: title }).waitFor();
      assert.equal(editor.read('src/store.c'), ONCE);
      await editor.page
        .getByRole('button', { name: titles['command.refuseChange'] })
        .first()
        .click();
      await editor.page.locator('.tab.active', { hasText: title }).waitFor({ state: 'detached' });
      assert.deepEqual(await panel.violations(), []);
    });

    test('a script runs in the background, is seen, and is stopped', async () => {
      const call = (script) => [['execute_script', { script, background: true }]];
      await model.script({ calls: call(SCRIPT) }, { say: 'b1.' });
      await panel.say('build');
      await panel.answered('b1.');
      await panel.rest();
      const line = panel.page.locator('.row .behind');
      await line
        .filter({ hasText: words['tool.background'].replace('{id}', 'b1') })
        .filter({ hasText: 'part 3' })
        .waitFor();
      await panel.page
        .locator('.status .behind', { hasText: words['count.scripts.one'].replace('{n}', '1') })
        .waitFor();
      await picture('background-folded');
      await panel.page.locator('.tool-card summary:has([data-tool=execute_script])').click();
      await picture('background');
      assert.deepEqual(await panel.violations(), []);
      await line.getByRole('button', { name: words['tool.end'] }).click();
      await line.waitFor({ state: 'detached' });
      await panel.page.locator('.row[data-state=cancelled]').waitFor();
      await picture('background-stopped');
    });

    test('what it changed is asked for when it has ended', async () => {
      await choose(words['mode.ask']);
      const call = [['execute_script', { script: BUILT, background: true }]];
      await model.script({ calls: call }, { say: 'b2.' });
      await panel.say('build all');
      await panel.answered('b2.');
      await panel.rest();
      const consent = panel.page.locator('.consent', { hasText: 'built.txt' });
      await consent.waitFor();
      assert.equal(existsSync(path.join(editor.folder, 'built.txt')), false);
      await picture('background-asked');
      assert.deepEqual(await panel.violations(), []);
      await consent.getByRole('button', { name: words['diff.acceptAll'] }).click();
      await until('built.txt is written', () => existsSync(path.join(editor.folder, 'built.txt')));
      await panel.page.locator('.row[data-state=done]:has([data-tool=execute_script])').waitFor();
      await model.script({ calls: [['script_output', { id: 'b2' }]] }, { say: 'b2: 0.' });
      await panel.say('b2?');
      await panel.answered('b2: 0.');
      await panel.rest();
      await panel.page.locator('.tool-card summary:has([data-tool=script_output])').click();
      await picture('background-read');
    });
  });
}
