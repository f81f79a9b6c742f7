// From nothing to an answer in a real VS Code: a wrong key first, a server on this machine, a model
// that fails later, Chinese. No settings file is edited.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, removed } from './workbench.mjs';

const KEY = 'sk-right-only-in-secret-storage-0815';
const LATER = 'sk-later-only-in-secret-storage-0815';
const WRONG = 'Authentication Fails, Your api key: ****beef is invalid';
const NOBODY = '127.0.0.1:9';
const ENGLISH = /\b(the|is|are|not|key|model|provider|address|name|type|pick|set)\b/i;

/** A workbench with a model that is not configured anywhere. */
function started(options = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  const all = { home };
  before(async () => {
    all.model = await startModel();
    const address = all.model.url.replace('/v1', '');
    const { local, title, ...more } = options;
    const env = { JARVIS_HOME: home, OLLAMA_HOST: local ? address : NOBODY };
    all.editor = await openWorkbench({ files: { 'a.c': 'int a;\n' }, env, ...more });
    all.panel = await Panel.open(all.editor, title);
  });
  after(async () => {
    await all.editor?.close();
    await all.model?.close();
    await removed(home);
  });
  return all;
}

/** Answers the input with this title, once. */
async function type({ editor }, title, text) {
  const input = editor.page.locator('.quick-input-widget', { hasText: title });
  await input.waitFor();
  await input.locator('input.input').fill(text);
  await input.locator('input.input').press('Enter');
}

/** Chooses the row that holds a text in the list with this title. */
async function choose({ editor }, title, text) {
  const input = editor.page.locator('.quick-input-widget', { hasText: title });
  await input.waitFor();
  await input.locator('input.input').fill(text);
  await input.locator('.monaco-list-row.focused', { hasText: text }).waitFor();
  await input.locator('input.input').press('Enter');
}

/** Clicks an action of a message. */
async function act({ editor }, message, action) {
  await editor.told(message);
  await editor.toast(message).locator('.monaco-button', { hasText: action }).click();
}

/** Waits until the status bar says it. */
async function status({ editor }, words) {
  const said = editor.page.locator(`[aria-label*="${words}"]`);
  await editor.status.filter({ has: said }).waitFor();
}

describe('from nothing, with a key', () => {
  const all = started();

  test('a wrong key is told in the words of the provider, the right one opens its models', async () => {
    const { model, panel, editor } = all;
    await model.set({ key: KEY, models: ['large', 'text-embedding-3', 'small'] });
    await panel.page.getByText('No model is configured').first().waitFor();
    await status(all, 'Model: none.');
    await panel.picture('setup-1-nothing');
    assert.deepEqual(await panel.violations(), []);
    await panel.page.locator('[data-part=set-up]').first().click();
    const providers = editor.page.locator('.quick-input-widget', { hasText: 'Provider' });
    await providers.getByText('DeepSeek', { exact: true }).waitFor();
    await panel.picture('setup-2-providers');
    await choose(all, 'Set Up a Model: Provider', 'Other Address');
    await type(all, 'Set Up a Model: Address', model.url);
    await type(all, 'Set Up a Model: Key of', 'sk-wrong-deadbeef');
    await editor.told(WRONG);
    await panel.picture('setup-3-wrong-key');
    await act(all, WRONG, 'Enter Another Key');
    await type(all, 'Set Up a Model: Key of', KEY);
    const models = editor.page.locator('.quick-input-widget', { hasText: 'Model of' });
    await models.getByText('large', { exact: true }).waitFor();
    assert.equal(await models.getByText('embedding').count(), 0);
    await panel.picture('setup-4-models');
    await choose(all, 'Set Up a Model: Model of', 'small');
    await editor.noted('/small is ready.');
    await panel.page.getByText('How can I help?').waitFor();
    await status(all, 'Model: ready.');
    await panel.picture('setup-5-ready');
    await model.script({ say: 'Hello, stranger.' });
    await panel.say('Hello');
    await panel.answered('Hello, stranger.');
    await panel.rest();
  });

  test('the key is in no file and no log', () => {
    const { home, editor } = all;
    for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      assert.ok(!entry.isFile() || !readFileSync(file).includes(KEY), file);
    }
    assert.ok(!editor.log().includes(KEY));
  });

  test('a key that is refused later is set below the failed turn, which is then tried again', async () => {
    const { model, panel, editor } = all;
    await model.set({ key: LATER });
    await panel.say('Are you there?');
    const setKey = panel.page.locator('[data-part=set-key]');
    await setKey.waitFor();
    await status(all, 'Model: failing.');
    await panel.picture('setup-6-failed');
    await setKey.click();
    await type(all, 'API key', 'sk-wrong-deadbeef');
    await act(all, WRONG, 'Enter Another Key');
    await type(all, 'API key', LATER);
    await editor.page.getByText(/^API key .* saved\.$/).waitFor();
    await model.script({ say: 'Here again.' });
    await panel.retried('Here again.');
    await panel.rest();
    await status(all, 'Model: ready.');
  });

  test('a model that is gone is chosen anew', async () => {
    const { model, panel, editor } = all;
    await model.script({ refuse: 404, message: 'The model `small` does not exist' });
    await panel.say('And now?');
    await panel.page.locator('[data-part=choose-model]').click();
    await editor.pick('Use the Key That Is Set');
    await choose(all, 'Set Up a Model: Model of', 'large');
    await editor.noted('/large is ready.');
    await model.script({ say: 'Larger now.' });
    await panel.retried('Larger now.');
    await panel.rest();
  });
});

describe('from nothing, with a server on this machine, in Chinese', () => {
  const all = started({ local: true, locale: 'zh-cn', title: 'Jarvis: 打开对话（聊天）' });

  test('two choices lead to an answer', async () => {
    const { model, panel, editor } = all;
    await model.set({ models: ['qwen3:8b'] });
    await panel.page.getByText('尚未配置模型').first().waitFor();
    await panel.picture('setup-chinese-1-nothing');
    await editor.command('Jarvis: 设置模型');
    const list = editor.page.locator('.quick-input-widget', { hasText: '设置模型：服务商' });
    await list.getByText('正在本机运行，1 个模型').waitFor();
    await panel.picture('setup-chinese-2-providers');
    const rows = (await list.locator('.monaco-list-row').allInnerTexts()).join(' ');
    assert.ok(rows.includes('其他地址') && !ENGLISH.test(rows), rows);
    await choose(all, '设置模型：服务商', 'Ollama');
    await choose(all, '设置模型：Ollama 的模型', 'qwen3:8b');
    await editor.noted('ollama/qwen3:8b 已就绪');
    await status(all, '模型：就绪。');
    await model.script({ say: '你好。' });
    await panel.say('你好');
    await panel.answered('你好。');
    await panel.rest();
    assert.deepEqual(await panel.violations(), []);
  });

  test('a failure says in Chinese what can be done', async () => {
    const { model, panel } = all;
    await model.script({ refuse: 404, message: '-' });
    await panel.say('在吗');
    await panel.page.locator('[data-part=choose-model]', { hasText: '选择模型' }).waitFor();
    await status(all, '模型：出错。');
    await panel.picture('setup-chinese-3-failed');
  });
});
