// The other tabs, the sessions, and the life of the page: agents, files, memories, settings; hidden,
// shown again, without a server, without a model.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { emptyPicture, openBrowser } from './host.mjs';
import {
  ASKED_EDIT,
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
  tree,
  user,
} from './sample.mjs';

const PICTURE = {
  session: SESSION,
  sessions: SESSIONS,
  events: [{ kind: 'session_put', session: info() }, putNode(node('root'))],
};
let host;
let panel;
before(async () => {
  host = await openBrowser();
});
after(() => host.close());
afterEach(() => panel?.close());
const open = async (options) => {
  panel = await host.open({ picture: PICTURE, ...options });
  return panel.page;
};

describe('agents', () => {
  test('are a tree with state, progress and what they spend, live', async () => {
    const page = await open();
    await panel.events(tree());
    await panel.tab('agents');
    const rows = page.getByRole('treeitem');
    assert.equal(await rows.count(), 7);
    assert.equal(
      await page
        .getByRole('treeitem', { name: /^src\/net.c\s*, completed/ })
        .getAttribute('aria-level'),
      '3',
    );
    await page.getByText('7 agents').waitFor();
    await panel.events([
      putNode(
        node('n3', {
          parent: 'n1',
          kind: 'act',
          title: 'src/tls',
          state: 'completed',
          activity: 'ready',
        }),
      ),
    ]);
    await page.getByRole('treeitem', { name: /^src\/tls\s*, completed, ready/ }).waitFor();
    await panel.events([{ kind: 'node_gone', session: SESSION, node: 'n1' }]);
    assert.equal(await rows.count(), 6);
    assert.equal(await page.locator('vscode-tab-header[data-tab=agents] vscode-badge').count(), 0);
  });

  test('are walked and steered from the keyboard', async () => {
    const page = await open();
    await panel.events(tree());
    await panel.tab('agents');
    await page.getByRole('treeitem').first().focus();
    const focused = () => page.evaluate(() => document.activeElement.dataset.id);
    for (const [key, id] of [
      ['ArrowDown', 'n1'],
      ['ArrowRight', 'n2'],
      ['ArrowDown', 'n3'],
      ['ArrowLeft', 'n1'],
      ['End', 'n6'],
      ['Home', 'root'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), id, key);
    }
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getByRole('treeitem').count(), 5);
    assert.equal(
      await page.locator('[data-id=n1].tree-row').getAttribute('aria-expanded'),
      'false',
    );
    await page.keyboard.press('Space');
    assert.deepEqual(await panel.asked('control'), {
      kind: 'control',
      session: SESSION,
      node: 'n1',
      action: 'pause',
    });
    await page.keyboard.press('Delete');
    assert.equal((await panel.asked('control', 2)).action, 'cancel');
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Redirect…' }).click();
    await page.getByLabel('New instructions').fill('Look at net.c only');
    await page.getByRole('button', { name: 'Redirect', exact: true }).click();
    assert.deepEqual(await panel.asked('redirect'), {
      kind: 'redirect',
      session: SESSION,
      node: 'n1',
      text: 'Look at net.c only',
    });
    await page.waitForFunction(() => document.activeElement?.dataset.id === 'n1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Callers of parse_header' }).waitFor();
  });

  test('what is begun for one while another is told stays, and the focus with it', async () => {
    const page = await open({ answers: { redirect: { held: true }, budget: { held: true } } });
    await panel.events(tree());
    await panel.tab('agents');
    const change = async (label, text, button) => {
      await page.getByLabel(label).fill(text);
      await page.getByRole('button', { name: button, exact: true }).click();
    };
    await page.locator('[data-id=n1].tree-row').click();
    await page.locator('[data-part=redirect]').click();
    await change('New instructions', 'Look at net.c only', 'Redirect');
    await panel.asked('redirect');
    await page.locator('[data-id=n4].tree-row').click();
    await page.getByRole('button', { name: 'Budget…' }).click();
    await change('Tokens', '70000', 'Save');
    await panel.asked('budget');
    await page.locator('[data-id=n1].tree-row').click();
    await page.locator('[data-part=redirect]').click();
    await page.getByLabel('New instructions').fill('And at tls.c');
    await panel.release();
    await panel.settled();
    const field = page.getByLabel('New instructions');
    assert.deepEqual(await field.evaluateAll((all) => all.map(({ value }) => value)), [
      'And at tls.c',
    ]);
    assert.equal(await field.evaluate((it) => it === document.activeElement), true);
  });

  test('get a budget, and are tried again', async () => {
    const page = await open();
    await panel.events(tree());
    await panel.tab('agents');
    await page.getByRole('treeitem', { name: /^Fuzzing/ }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    assert.equal((await panel.asked('control')).action, 'retry');
    await page.getByRole('treeitem', { name: /^Tests/ }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    assert.equal((await panel.asked('control', 2)).action, 'resume');
    await page.getByRole('button', { name: 'Budget…' }).click();
    assert.equal(await page.getByRole('spinbutton', { name: 'Tokens' }).inputValue(), '50000');
    await page.getByRole('spinbutton', { name: 'Tokens' }).fill('70000');
    await panel.events([
      putNode(
        node('n4', {
          parent: 'root',
          kind: 'child',
          title: 'Tests',
          state: 'paused',
          rounds: 9,
          budget: { tokens: 50_000, cost: 0.5 },
        }),
      ),
    ]);
    assert.equal(
      await page.getByRole('spinbutton', { name: 'Tokens' }).inputValue(),
      '70000',
      'what is typed outlives an update',
    );
    await page.getByLabel('Cost').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.deepEqual(await panel.asked('budget'), {
      kind: 'budget',
      session: SESSION,
      node: 'n4',
      tokens: 70_000,
    });
  });
});

describe('explorer', () => {
  test('shows what was read and changed, the diffs, and brings files back', async () => {
    const page = await open({
      answers: { explorer: EXPLORED, changes: { edits: [ASKED_EDIT.edits[0]] } },
    });
    await panel.events([put({ ...ASKED_EDIT, state: 'done' })]);
    await panel.tab('explorer');
    await page.getByRole('button', { name: 'Changes to src/parser/header.c' }).click();
    await page.locator('.explorer').getByText('if (len >= sizeof name').waitFor();
    await page
      .locator('.explorer')
      .getByRole('button', { name: /Compare in the editor/ })
      .click();
    assert.equal((await panel.asked('show_diff')).entry, 't4');
    await page.locator('.file .path', { hasText: 'Makefile' }).click();
    assert.deepEqual(await panel.asked('open_file'), {
      kind: 'open_file',
      path: 'Makefile',
      root: 0,
    });
    await page.getByRole('button', { name: /Changes since/ }).click();
    assert.deepEqual(await panel.asked('changes'), {
      kind: 'changes',
      session: SESSION,
      checkpoint: 'c1',
    });
    await panel.answer('rewind', { text: '', files: ['a.c'], kept: [] });
    await page.getByRole('button', { name: 'Restore: src/parser/header.c' }).click();
    assert.deepEqual(await panel.asked('rewind'), {
      kind: 'rewind',
      session: SESSION,
      entry: 'u1',
      what: 'files',
      paths: ['src/parser/header.c'],
      root: 0,
    });
    await page.locator('.toast', { hasText: 'Restored: 1 file.' }).waitFor();
    await page.getByRole('button', { name: /Restore files/ }).click();
    const back = await panel.asked('rewind', 2);
    assert.deepEqual([back.entry, back.what, back.paths], ['u1', 'files', undefined]);
    await page.locator('.toast', { hasText: 'Restored: 1 file.' }).waitFor();
  });

  test('asks anew when tools have worked', async () => {
    const page = await open({ answers: { explorer: { files: [], checkpoints: [] } } });
    await panel.tab('explorer');
    await page.getByText('Files that agents read or change').waitFor();
    await panel.answer('explorer', EXPLORED);
    await panel.events([put({ ...ASKED_EDIT, state: 'done' })]);
    await page.locator('.file .path', { hasText: 'header.c' }).first().waitFor();
  });
});

describe('memory', () => {
  test('is searched, written, changed and deleted', async () => {
    const page = await open({ answers: { memories: MEMORIES } });
    await panel.tab('memory');
    await page.getByText('Prefer early returns').waitFor();
    await page.getByLabel('Search memories').fill('packets');
    await page.waitForFunction(() =>
      globalThis.extension.asks.some((ask) => ask.kind === 'memories' && ask.query === 'packets'),
    );
    await page.getByRole('button', { name: 'Add memory' }).click();
    await page.getByLabel('What to remember').fill('Use clang.');
    await page.getByLabel('Tags, separated by commas').fill('build， tools,');
    await page.getByLabel('Scope').selectOption('global');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.deepEqual(await panel.asked('save_memory'), {
      kind: 'save_memory',
      memory: 'global',
      content: 'Use clang.',
      tags: ['build', 'tools'],
      id: '',
      session: SESSION,
    });
    await page.getByRole('button', { name: /Edit: Prefer/ }).click();
    assert.equal(await page.getByLabel('What to remember').inputValue(), MEMORIES.items[2].content);
    await page.keyboard.press('Escape');
    await page.locator('.memory-item').first().hover();
    await page.getByRole('button', { name: /Delete: Lengths/ }).click();
    assert.deepEqual(await panel.asked('delete_memory'), {
      kind: 'delete_memory',
      memory: 'project',
      id: 'm1',
      session: SESSION,
    });
  });

  test('one that is begun while another is being saved stays', async () => {
    const page = await open({ answers: { memories: MEMORIES, save_memory: { held: true } } });
    await panel.tab('memory');
    await page.getByRole('button', { name: 'Add memory' }).click();
    await page.getByLabel('What to remember').fill('Use clang.');
    await page.getByRole('button', { name: 'Save' }).click();
    await panel.asked('save_memory');
    await page.getByRole('button', { name: /Edit: Prefer/ }).click();
    await panel.release();
    await panel.settled();
    const field = page.getByLabel('What to remember');
    assert.deepEqual(await field.evaluateAll((all) => all.map(({ value }) => value)), [
      MEMORIES.items[2].content,
    ]);
  });

  test('empty says what it is for', async () => {
    const page = await open();
    await panel.tab('memory');
    await page.getByText('No memories yet.').waitFor();
  });
});

test('settings show models, providers and what is wrong; keys are set there', async () => {
  const page = await open({ answers: { settings: SETTINGS } });
  await panel.tab('settings');
  await page.getByText('The program docs-server was not found.').waitFor();
  await page.getByRole('button', { name: 'Set key far' }).click();
  const asked = { kind: 'set_key', variable: 'FAR_API_KEY', provider: 'far' };
  assert.deepEqual(await panel.asked('set_key'), asked);
  await page.getByRole('button', { name: 'Set Up a Model' }).click();
  await panel.asked('set_up_model');
  await page.getByRole('button', { name: 'Open Settings File' }).click();
  await panel.asked('open_settings');
});

describe('sessions', () => {
  test('are searched, resumed, renamed, saved, deleted and had back', async () => {
    const page = await open({ answers: { sessions: { sessions: SESSIONS, total: 3 } } });
    await page.locator('.title-button').click();
    await page.getByText('Explain double-free in list.c').waitFor();
    await page.getByLabel('Search sessions').fill('double');
    await page.waitForFunction(() =>
      globalThis.extension.asks.some((ask) => ask.kind === 'sessions' && ask.query === 'double'),
    );
    const more = page.getByRole('button', { name: 'Actions for Explain double-free in list.c' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.locator('.rename input').fill('Double free');
    await page.keyboard.press('Enter');
    assert.deepEqual(await panel.asked('rename'), {
      kind: 'rename',
      session: 's2',
      title: 'Double free',
    });
    const long = page.getByRole('button', { name: /Actions for A title/ });
    await long.click();
    await page.getByRole('menuitem', { name: 'Export as Markdown…' }).click();
    assert.deepEqual(await panel.asked('save_export'), { kind: 'save_export', session: 's3' });
    await long.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.locator('.toast', { hasText: 'Deleted: A title' }).waitFor();
    await long.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await long.waitFor();
    await panel.secondsPass();
    assert.equal((await panel.asks('delete')).length, 0);
    await long.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.locator('.toast', { hasText: 'Deleted: A title' }).waitFor();
    await panel.secondsPass();
    assert.deepEqual(await panel.asked('delete'), { kind: 'delete', session: 's3' });
    await page.locator('.session', { hasText: 'Double free' }).click();
    assert.equal((await panel.asked('attach', 2)).session, 's2');
  });

  test('that are not found are said to be so where the list would be', async () => {
    const page = await open({ answers: { sessions: { sessions: [], total: 0 } } });
    await panel.tell({ kind: 'command', command: 'sessions' });
    await page.getByRole('searchbox').fill('nowhere');
    const line = await page.getByText('No matching sessions.').boundingBox();
    assert.ok(line.y < 200, `at ${line.y}`);
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight),
      0,
    );
  });

  test('are walked from the keyboard, Escape goes back to the message', async () => {
    const page = await open({ answers: { sessions: { sessions: SESSIONS, total: 3 } } });
    await panel.tell({ kind: 'command', command: 'sessions' });
    await page.getByText('Explain double-free in list.c').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(
      await page.evaluate(() => document.activeElement.textContent),
      /Explain double-free/,
    );
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
  });
});

describe('the life of the page', () => {
  test('without a model it says what to set, and which commands work', async () => {
    const models = { ready: false, current: '', choices: [], advice: 'Set HOUSE_API_KEY.' };
    const page = await open({ picture: { models } });
    await page.getByText('Set HOUSE_API_KEY.').waitFor();
    assert.deepEqual(await page.locator('.commands code').allTextContents(), ['/scan', '/explain']);
    await page.getByRole('button', { name: 'Set Up a Model' }).click();
    await panel.asked('set_up_model');
    await page.getByRole('button', { name: '/explain' }).click();
    const field = page.locator('.composer textarea');
    await panel.becomes(() => field.inputValue(), '/explain ');
    await page.keyboard.type('double-free');
    await page.keyboard.press('Enter');
    assert.equal((await panel.asked('send')).text, '/explain double-free');
  });

  test('an empty chat offers what to ask about the findings', async () => {
    const page = await open({});
    await page.getByRole('button', { name: /Explain and fix src\/store\.c:42/ }).click();
    const field = page.locator('.composer textarea');
    const text = 'Explain finding C12 (double-free, src/store.c:42).';
    await panel.becomes(() => field.inputValue(), text);
  });

  test('draft, place, tab and folds are there again after it was hidden', async () => {
    const events = [
      ...conversation(),
      ...Array.from({ length: 80 }, (_, index) => put(answer(`m${index}`, `Answer ${index}`))),
    ];
    const picture = { ...PICTURE, events };
    let page = await open({ picture });
    await page.locator('.composer textarea').fill('half a thought');
    await page.mouse.move(150, 300);
    await page.mouse.wheel(0, -1500);
    await panel.settled();
    await page.waitForFunction(
      () => globalThis.extension.state?.place !== undefined && globalThis.extension.state.drafts,
    );
    const first = () =>
      page.evaluate(() => {
        const top = document.querySelector('.entries').getBoundingClientRect().top;
        return [...document.querySelectorAll('.row')].find(
          (row) => row.getBoundingClientRect().bottom > top + 30,
        )?.dataset.id;
      });
    let [place, state] = [undefined, undefined];
    for (let rests = false; !rests; ) {
      [place, state] = [await first(), await panel.state()];
      await panel.passes(300);
      rests = isDeepStrictEqual([place, state], [await first(), await panel.state()]);
    }
    await panel.close();
    page = await open({ picture, state });
    await page.getByText('Answer', { exact: false }).first().waitFor();
    await panel.settled();
    const field = page.locator('.composer textarea');
    await panel.becomes(() => field.inputValue(), 'half a thought');
    await panel.becomes(first, place);
    assert.equal((await panel.asks('attach'))[0].session, SESSION);
    await panel.tab('memory');
    await page.waitForFunction(() => globalThis.extension.state.tab === 'memory');
  });

  test('a server that comes back is attached to anew, nothing is doubled', async () => {
    const page = await open({
      picture: { ...PICTURE, seq: 5, events: [...PICTURE.events, put(answer('a', 'Hello'))] },
    });
    await panel.tell({ kind: 'life', life: 'stopped' });
    await page.getByText('The language server stopped').waitFor();
    await panel.answer('attach', {
      ...emptyPicture(),
      ...PICTURE,
      seq: 0,
      events: [...PICTURE.events, put(answer('a', 'Hello again'))],
    });
    await panel.tell({ kind: 'life', life: 'running' });
    await page.getByText('Hello again').waitFor();
    assert.equal(await page.locator('.answer').count(), 1);
    assert.equal(await page.locator('.banner').count(), 0);
    await panel.events([grew('a', 11, ' and more')]);
    await page.getByText('Hello again and more').waitFor();
  });

  test('what is said while the server starts goes to it, in order, once it is back', async () => {
    const page = await open({ picture: PICTURE });
    for (const life of ['stopped', 'starting']) {
      await panel.tell({ kind: 'life', life });
      const field = page.locator('.composer textarea');
      await field.fill(life);
      await page.keyboard.press('Enter');
      await panel.becomes(() => field.inputValue(), '');
    }
    assert.equal((await panel.asks('send')).length, 0);
    const waits = page.locator('.waiting-line');
    assert.deepEqual(await waits.locator('bdi').allInnerTexts(), ['stopped', 'starting']);
    assert.deepEqual(await panel.violations(), []);
    await page.locator('.composer textarea').fill('take me back');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit unsent message: take me back' }).click();
    const field = page.locator('.composer textarea');
    await panel.becomes(() => field.inputValue(), 'take me back');
    await panel.answer('attach', { ...emptyPicture(), ...PICTURE, seq: 0 });
    await panel.tell({ kind: 'life', life: 'running' });
    await panel.asked('send', 2);
    const sent = (await panel.asks('send')).map(({ text, session }) => [text, session]);
    assert.deepEqual(sent, [
      ['stopped', PICTURE.session],
      ['starting', PICTURE.session],
    ]);
    await waits.first().waitFor({ state: 'detached' });
  });

  test('what was said to a server that does not start stands in the field again', async () => {
    const page = await open({ picture: PICTURE });
    await panel.tell({ kind: 'life', life: 'starting' });
    const field = page.locator('.composer textarea');
    await field.fill('Keep me');
    await page.keyboard.press('Enter');
    await panel.tell({ kind: 'life', life: 'failed' });
    await page.locator('.banner').waitFor();
    await panel.becomes(() => field.inputValue(), 'Keep me');
    assert.equal(await page.locator('[data-part=send]').isDisabled(), true);
  });

  test('batches that are in the picture already do nothing, lost ones are fetched', async () => {
    const page = await open({
      picture: { ...PICTURE, seq: 7, events: [...PICTURE.events, put(answer('a', 'Hello'))] },
    });
    await page.getByText('Hello').waitFor();
    panel.seq = 5;
    await panel.events([put(user('old', 'old'))]);
    assert.equal(await page.locator('.said').count(), 0);
    panel.seq = 7;
    await panel.events([put(user('new', 'new'))]);
    assert.equal(await page.locator('.said').count(), 1);
    panel.seq = 20;
    await panel.events([put(user('late', 'late'))]);
    await panel.asked('attach', 2);
  });

  test('a server that does not start is told in one line', async () => {
    const page = await open({
      life: 'noPython',
      answers: { attach: { failed: 'The server is not running.' } },
    });
    await page.getByText('Jarvis needs Python 3.10 or newer.').waitFor();
    await panel.asked('attach');
    assert.equal(await page.locator('.toast.shown').count(), 0);
  });

  test('a session of a workspace that is not trusted says so', async () => {
    const page = await open({ picture: { ...PICTURE, trusted: false } });
    await page.getByText('This workspace is not trusted').waitFor();
  });
});
