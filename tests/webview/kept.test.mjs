// What the user has begun and not yet sent: nothing takes it away. Not a server that comes back, not a
// view that is hidden, not a row that is out of sight.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { emptyPicture, openBrowser } from './host.mjs';
import { answer, EDIT, info, node, put, putNode, SESSION, SESSIONS, tool } from './sample.mjs';

const PICTURE = {
  session: SESSION,
  sessions: SESSIONS,
  events: [{ kind: 'session_put', session: info() }, putNode(node('root'))],
};
const FILE = { kind: 'file', path: 'src/a.c', root: 0 };
const EDITED = tool('edit', 'edit_file', { state: 'asked', edits: [EDIT] });
const MANY = Array.from({ length: 60 }, (_, index) => put(answer(`m${index}`, `Answer ${index}`)));
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
const comeBack = async () => {
  const { length } = await panel.asks('attach');
  await panel.answer('attach', { ...emptyPicture(), ...PICTURE, seq: 0 });
  await panel.tell({ kind: 'life', life: 'running' });
  await panel.asked('attach', length + 1);
  await panel.settled();
};

describe('the input line', () => {
  test('keeps text, cursor and what goes along when the server comes back', async () => {
    const page = await open();
    const field = page.locator('.composer textarea');
    await field.fill('one three');
    await panel.tell({ kind: 'insert', text: '', attachments: [FILE] });
    await page.locator('.chip', { hasText: 'a.c' }).waitFor();
    await panel.tell({ kind: 'life', life: 'stopped' });
    await page.locator('.banner').waitFor();
    await field.evaluate((it) => it.setSelectionRange(4, 4));
    await comeBack();
    await page.keyboard.type('two ');
    await panel.becomes(() => field.inputValue(), 'one two three');
    assert.equal(await page.locator('.chip').count(), 1);
  });

  test('keeps what is typed before the conversation is there', async () => {
    const page = await open({ answers: { attach: { held: true } }, state: { session: SESSION } });
    const field = page.locator('.composer textarea');
    await field.fill('typed early');
    await panel.answer('attach', { ...emptyPicture(), ...PICTURE });
    await panel.tell({ kind: 'refresh' });
    await page.locator('.title', { hasText: info().title }).waitFor();
    assert.equal(await field.inputValue(), 'typed early');
  });

  test('has what waited for the server again after the view was hidden', async () => {
    let page = await open();
    await panel.tell({ kind: 'life', life: 'stopped' });
    await panel.tell({ kind: 'insert', text: '', attachments: [FILE] });
    for (const text of ['first', 'second']) {
      await page.locator('.composer textarea').fill(text);
      await page.keyboard.press('Enter');
    }
    await page.locator('.composer textarea').fill('third');
    await page.waitForFunction(() =>
      JSON.stringify(globalThis.extension.state ?? '').includes('third'),
    );
    const state = await panel.state();
    await panel.close();
    page = await open({ state });
    await page.locator('.chip', { hasText: 'a.c' }).waitFor();
    const field = page.locator('.composer textarea');
    await panel.becomes(() => field.inputValue(), 'first\nsecond\nthird');
  });
});

describe('a proposed change', () => {
  const events = [...PICTURE.events, ...MANY, put(EDITED)];

  test('keeps which parts are taken, and the note, while it is out of sight', async () => {
    const page = await open({ picture: { ...PICTURE, events } });
    await page.getByRole('checkbox', { name: 'Change 2' }).uncheck();
    await page.getByLabel('Tell the agent why').fill('only the first');
    await page.locator('.composer textarea').focus();
    await panel.toBeginning();
    await page.locator('.consent').waitFor({ state: 'detached' });
    await page.locator('.entries').evaluate((it) => {
      it.scrollTop = it.scrollHeight;
    });
    await page.getByRole('button', { name: 'Accept 1 of 2' }).waitFor();
    assert.equal(await page.getByLabel('Tell the agent why').inputValue(), 'only the first');
  });

  test('keeps which parts are taken, and the note, while the view is hidden', async () => {
    let page = await open({ picture: { ...PICTURE, events } });
    await page.getByRole('checkbox', { name: 'Change 2' }).uncheck();
    await page.getByLabel('Tell the agent why').fill('only the first');
    await page.waitForFunction(() =>
      JSON.stringify(globalThis.extension.state ?? '').includes('only the first'),
    );
    const state = await panel.state();
    await panel.close();
    page = await open({ picture: { ...PICTURE, events }, state });
    await page.getByRole('button', { name: 'Accept 1 of 2' }).waitFor();
    assert.equal(await page.getByLabel('Tell the agent why').inputValue(), 'only the first');
  });
});

test('an answer to a question that is half typed is kept while it is out of sight', async () => {
  const question = { kind: 'question', id: 'q', text: 'Which one?', choices: [] };
  const page = await open({
    picture: { ...PICTURE, events: [...PICTURE.events, ...MANY, put(question)] },
  });
  await page.getByLabel('Your answer').fill('the lower');
  await page.locator('.composer textarea').focus();
  await panel.toBeginning();
  await page.locator('.answer-form').waitFor({ state: 'detached' });
  await page.locator('.entries').evaluate((it) => {
    it.scrollTop = it.scrollHeight;
  });
  await page.locator('.answer-form').waitFor();
  assert.equal(await page.getByLabel('Your answer').inputValue(), 'the lower');
});

test('a memory that is being written is there again after the view was hidden', async () => {
  let page = await open();
  await panel.tab('memory');
  await page.getByRole('button', { name: 'Add memory' }).click();
  await page.getByLabel('What to remember').fill('half a memory');
  await page.waitForFunction(() =>
    JSON.stringify(globalThis.extension.state ?? '').includes('half a memory'),
  );
  const state = await panel.state();
  await panel.close();
  page = await open({ state });
  assert.equal(await page.getByLabel('What to remember').inputValue(), 'half a memory');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForFunction(() => globalThis.extension.state.memory === undefined);
});
