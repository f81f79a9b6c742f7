// The panel by the rules of axe, on each tab, in the editor's dark, light and high contrast themes;
// everything by keyboard; what is said to screen readers; Chinese; narrow; little movement.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openBrowser, THEMES } from './host.mjs';
import {
  ASKED_EDIT,
  ASKED_PATCH,
  ASKED_SCRIPT,
  answer,
  conversation,
  EXPLORED,
  grew,
  info,
  MEMORIES,
  node,
  put,
  putNode,
  SESSION,
  SESSIONS,
  SETTINGS,
  tasks,
  tool,
  tree,
  user,
} from './sample.mjs';

const ANSWERS = {
  explorer: EXPLORED,
  memories: MEMORIES,
  settings: SETTINGS,
  sessions: { sessions: SESSIONS, total: 3 },
};
const QUESTION = { kind: 'question', id: 'q', text: 'Which one?', choices: [] };
const EVENTS = [
  ...conversation(),
  ...tree(),
  put(user('u9', 'queued', { queued: true })),
  put(QUESTION),
  put(ASKED_SCRIPT),
  put(ASKED_EDIT),
];
const PICTURE = { session: SESSION, sessions: SESSIONS, events: EVENTS };

let host;
before(async () => {
  host = await openBrowser();
});
after(() => host.close());

describe('no rule of axe is broken', () => {
  for (const theme of Object.keys(THEMES)) {
    test(`in the theme ${theme}`, async () => {
      const panel = await host.open({ theme, picture: PICTURE, answers: ANSWERS, height: 1600 });
      await panel.settled();
      await panel.page.getByRole('checkbox', { name: 'Change 2' }).uncheck();
      assert.deepEqual(await panel.violations(), [], 'chat');
      await panel.toBeginning();
      await panel.settled();
      await panel.page.locator('.meter-button').click();
      assert.deepEqual(await panel.violations(), [], 'chat, from its beginning');
      await panel.page.keyboard.press('Escape');
      await panel.page.locator('.model-button').click();
      assert.deepEqual(await panel.violations(), [], 'a menu');
      await panel.page.keyboard.press('Escape');
      await panel.page.locator('.title-button').click();
      await panel.page.getByText('Explain double-free').waitFor();
      assert.deepEqual(await panel.violations(), [], 'sessions');
      await panel.page.keyboard.press('Escape');
      for (const tab of ['agents', 'explorer', 'memory', 'settings']) {
        await panel.tab(tab);
        await panel.settled();
        if (tab === 'agents') await panel.page.getByRole('button', { name: 'Budget…' }).click();
        if (tab === 'explorer') await panel.page.locator('.file .icon-button').first().click();
        if (tab === 'memory') await panel.page.getByRole('button', { name: 'Add memory' }).click();
        assert.deepEqual(await panel.violations(), [], tab);
      }
      assert.deepEqual(panel.errors, []);
      await panel.close();
    });
  }

  for (const theme of Object.keys(THEMES)) {
    test(`in lines below the conversation, in the theme ${theme}`, async () => {
      const failed = node('root', { state: 'failed', error: 'HTTP 500' });
      const script = tool('t', 'execute_script', {
        state: 'running',
        background: 'b1',
        output: 'building\n',
      });
      const fault = { id: 'f', kind: 'notice', level: 'error', text: 'no', wrong: 'key' };
      const events = [
        { kind: 'session_put', session: info() },
        putNode(failed),
        put(script),
        put({ ...fault, provider: 'house' }),
      ];
      const panel = await host.open({ theme, picture: { session: SESSION, events } });
      await panel.settled();
      const retry = panel.page.getByRole('button', { name: 'Retry' });
      await retry.focus();
      assert.equal(await panel.page.locator('[data-part=set-key]').count(), 1);
      assert.equal(await panel.page.locator('[data-part=show-script]').count(), 1);
      assert.equal(await panel.page.locator('[data-part=end-script]').count(), 1);
      assert.deepEqual(await panel.violations(), []);
      await panel.page.keyboard.press('Enter');
      assert.equal((await panel.asked('control')).action, 'retry');
      await panel.close();
    });
  }

  for (const theme of Object.keys(THEMES)) {
    test(`in auto and Agent mode, in the theme ${theme}`, async () => {
      const events = [{ kind: 'session_put', session: info() }, tasks(), put(ASKED_PATCH)];
      const panel = await host.open({ theme, picture: { session: SESSION, events }, height: 1600 });
      await panel.settled();
      assert.equal(await panel.page.locator('.task').count(), 6);
      await panel.page.locator('.task[data-id=parser]').focus();
      await panel.page.locator('.task-detail', { hasText: 'Read the header first.' }).waitFor();
      await panel.page.getByText('Risk: medium, 2 callers.').waitFor();
      assert.deepEqual(await panel.violations(), []);
      await panel.page.locator('[data-part=mode]').click();
      await panel.page.getByRole('menuitemradio', { name: /^Agent/ }).waitFor();
      assert.deepEqual(await panel.violations(), [], 'the menu of modes');
      await panel.close();
    });
  }

  test('with nothing to show, and without a model', async () => {
    const models = { ready: false, current: '', choices: [], advice: '' };
    const panel = await host.open({ theme: 'light', picture: { models } });
    await panel.page.getByText('No model is configured').waitFor();
    for (const tab of ['chat', 'agents', 'explorer', 'memory', 'settings']) {
      await panel.tab(tab);
      assert.deepEqual(await panel.violations(), [], tab);
    }
    await panel.close();
  });
});

test('everything is reached by keyboard, and the focus can be seen', async () => {
  const panel = await host.open({ picture: PICTURE, answers: ANSWERS });
  const { page } = panel;
  await panel.settled();
  const at = () =>
    page.evaluate(() => {
      const it = document.activeElement;
      const shown = getComputedStyle(it);
      const around = it.closest('.composer');
      const ring = around ? getComputedStyle(around).borderColor : shown.outlineStyle;
      return {
        name: it.getAttribute('aria-label') ?? it.textContent.trim().slice(0, 40),
        role: it.getAttribute('role') ?? it.tagName.toLowerCase(),
        ring,
      };
    });
  const seen = [];
  await page.locator('vscode-tab-header').first().focus();
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab');
    const now = await at();
    if (now.role === 'body') break;
    assert.notEqual(now.ring, 'none', `focus is seen on ${now.role} ${now.name}`);
    seen.push(now);
  }
  const names = seen.map(({ name }) => name).join('\n');
  for (const wanted of [
    'Accept all',
    'Reject',
    'Message',
    'Add context',
    'Model: balanced',
    'Stop (Esc)',
  ]) {
    assert.ok(names.includes(wanted), `${wanted} in\n${names}`);
  }

  // Move from the message box to the conversation, along its rows, into one and out again.
  await page.locator('.composer textarea').focus();
  await page.keyboard.press('Alt+ArrowUp');
  const row = () => page.evaluate(() => document.activeElement.closest('.row')?.dataset.id);
  const isRow = () => page.evaluate(() => document.activeElement.classList.contains('row'));
  assert.equal(await row(), 't4');
  await page.keyboard.press('ArrowUp');
  assert.equal(await row(), 't3');
  await page.keyboard.press('Tab');
  assert.equal(await isRow(), false);
  await page.keyboard.press('Escape');
  assert.equal(await isRow(), true);
  await page.keyboard.press('Home');
  assert.equal(await row(), 'u1');
  await page.keyboard.press('End');
  assert.equal(await row(), 't4');

  // Tabs by arrow keys.
  await page.locator('vscode-tab-header').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await page.locator('.agents').waitFor();
  await page.locator('vscode-tab-header[data-tab=agents][aria-selected=true]').waitFor();
  await panel.close();
});

test('what streams in is said by the sentence, what asks is said at once', async () => {
  const panel = await host.open({ picture: { session: SESSION, events: conversation() } });
  const said = async (manner) => {
    await panel.page.evaluate((which) => {
      globalThis.said ??= {};
      globalThis.said[which] = [];
      const region = document.querySelector(`[aria-live=${which}]`);
      new MutationObserver(() => {
        if (region.textContent) globalThis.said[which].push(region.textContent);
      }).observe(region, { childList: true, characterData: true, subtree: true });
    }, manner);
  };
  await said('polite');
  await said('assertive');
  const text = 'The **length** is unchecked. It comes from `net.c`. And so on';
  await panel.events([put(answer('s', '', { streaming: true }))]);
  for (let at = 0; at < text.length; at += 3) {
    await panel.events([grew('s', at, text.slice(at, at + 3))]);
  }
  const script = { arguments: '{"script": "make | tail > log"}' };
  await panel.events([put(answer('s', text)), put({ ...ASKED_SCRIPT, ...script })]);
  await panel.page.waitForFunction(() => globalThis.said.polite.join(' ').includes('And so on'));
  const polite = await panel.page.evaluate(() => globalThis.said.polite);
  assert.equal(polite.join(' '), 'The length is unchecked. It comes from net.c. And so on');
  assert.ok(polite.length <= 3, JSON.stringify(polite));
  assert.deepEqual(await panel.page.evaluate(() => globalThis.said.assertive), [
    'Waiting for your approval: Run make | tail > log',
  ]);
  await panel.events([put({ ...ASKED_SCRIPT, ...script, state: 'done' })]);
  const alert = panel.page.locator('[aria-live=assertive]');
  await panel.becomes(() => alert.textContent(), '', 'what was answered is no longer said');
  await panel.close();
});

for (const [locale, width] of [
  ['en', 300],
  ['zh-cn', 300],
  ['zh-cn', 240],
  ['en', 200],
]) {
  test(`nothing is cut off at ${width} pixels in ${locale}`, async () => {
    const panel = await host.open({
      locale,
      width,
      height: 3200, // so that every row is drawn
      picture: PICTURE,
      answers: ANSWERS,
    });
    for (const tab of ['chat', 'agents', 'explorer', 'memory', 'settings']) {
      await panel.tab(tab);
      await panel.settled();
      const wide = await panel.page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter(
            (it) =>
              it.checkVisibility() &&
              !it.closest('.lines, pre, .table-frame, .spoken, .tab-name, bdi'),
          )
          .filter((it) => it.getBoundingClientRect().right > window.innerWidth + 1)
          .map((it) => `${it.tagName} ${it.className}`),
      );
      assert.deepEqual(wide, [], tab);
    }
    await panel.close();
  });
}

test('the panel speaks Chinese', async () => {
  const panel = await host.open({ locale: 'zh-cn', picture: PICTURE, answers: ANSWERS });
  assert.equal(await panel.page.evaluate(() => document.documentElement.lang), 'zh-CN');
  assert.deepEqual(await panel.page.locator('.tab-name').allTextContents(), [
    '聊天',
    '智能体',
    '文件',
    '记忆',
    '设置',
  ]);
  await panel.page.getByRole('button', { name: '允许', exact: true }).waitFor();
  // Nothing of the English table is left: what is not Chinese came from the sample.
  const texts = await panel.page
    .locator('[aria-label], button')
    .evaluateAll((all) => all.map((it) => it.getAttribute('aria-label') ?? it.textContent.trim()));
  for (const word of ['Allow', 'Deny', 'Message', 'Send', 'Context', 'Conversation', 'Copy']) {
    assert.ok(!texts.includes(word), word);
  }
  await panel.close();
});

test('little movement is kept to when that is asked for', async () => {
  const panel = await host.open({ picture: PICTURE, reducedMotion: true });
  const moving = await panel.page.evaluate(() => document.getAnimations().length);
  assert.equal(moving, 0);
  await panel.close();
});
