// What the page knows of sessions: events add up to the same picture in whatever way they come.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { load } from './bundle.mjs';
import { answer, grew, info, node, put, putNode, SESSION, tool, user } from './sample.mjs';

const { Store, codePoints } = await load('store');
const { restore, isOpen, setOpen } = await load('kept');
const { short, ago, cost, seconds } = await load('strings');

function shown(events = []) {
  const store = new Store();
  store.show(SESSION, events);
  store.take();
  return store;
}
const texts = (store, of = 'root') =>
  [...(store.session.conversations.get(of)?.all() ?? [])].map(({ text }) => text);

describe('entries', () => {
  test('keep the order they came in, and are replaced in place', () => {
    const store = shown([put(user('u', 'one')), put(answer('a', 'two'))]);
    store.apply([put(user('u', 'uno'))]);
    assert.deepEqual(texts(store), ['uno', 'two']);
  });

  test('grow', () => {
    const store = shown([put(answer('a', ''))]);
    store.apply([grew('a', 0, 'Hel'), grew('a', 3, 'lo')]);
    assert.deepEqual(texts(store), ['Hello']);
  });

  test('grow once when a delta is seen twice', () => {
    const store = shown([put(answer('a', ''))]);
    const deltas = [grew('a', 0, 'Hel'), grew('a', 3, 'lo')];
    store.apply([...deltas, ...deltas]);
    assert.deepEqual(texts(store), ['Hello']);
  });

  test('count in code points, as the server does', () => {
    const store = shown([put(answer('a', '😀'))]);
    store.apply([grew('a', 1, '—𝔘'), grew('a', 3, '!'), grew('a', 3, '?')]);
    assert.deepEqual(texts(store), ['😀—𝔘?']);
  });

  test('a surrogate without its partner is one, as it comes', () => {
    assert.equal(codePoints('\ud83d'), 1);
    assert.equal(codePoints('\ud83d\ude00\ud83d'), 2);
    assert.equal(codePoints(''), 0);
  });

  test('what grows a part that is not there is ignored', () => {
    const store = shown([put(user('u', 'x'))]);
    store.apply([grew('nobody', 0, 'x'), grew('u', 0, 'x', 'output')]);
    assert.deepEqual(texts(store), ['x']);
    assert.equal('output' in store.session.conversation('root').get('u'), false);
  });

  test('a put in the middle of growth is the new beginning', () => {
    const store = shown([put(answer('a', ''))]);
    store.apply([grew('a', 0, 'Hello'), put(answer('a', 'Bye')), grew('a', 3, ' now')]);
    assert.deepEqual(texts(store), ['Bye now']);
  });

  test('are cut from one on; an unknown one cuts nothing', () => {
    const store = shown(['a', 'b', 'c'].map((id) => put(user(id, id))));
    const cut = (first) => ({ kind: 'entries_cut', session: SESSION, node: 'root', first });
    store.apply([cut('zzz')]);
    assert.deepEqual(texts(store), ['a', 'b', 'c']);
    store.apply([cut('b')]);
    assert.deepEqual(texts(store), ['a']);
    store.apply([put(user('b', 'again'))]);
    assert.deepEqual(texts(store), ['a', 'again']);
  });

  test('of other sessions are not kept', () => {
    const store = shown();
    store.apply([{ ...put(user('u', 'x')), session: 'other' }]);
    assert.deepEqual(texts(store), []);
  });
});

describe('nodes', () => {
  test('the root is the one without a parent; one that is gone takes its conversation along', () => {
    const child = node('c', { parent: 'root', kind: 'child' });
    const store = shown([putNode(child), putNode(node('root')), put(user('u', 'x'), 'c')]);
    assert.equal(store.session.root.id, 'root');
    store.apply([{ kind: 'node_gone', session: SESSION, node: 'c' }]);
    assert.deepEqual([...store.session.nodes.keys()], ['root']);
    assert.deepEqual(texts(store, 'c'), []);
    assert.equal(store.take().tree, true);
  });

  test('a new state is no other tree', () => {
    const store = shown([putNode(node('root'))]);
    store.apply([putNode(node('root', { state: 'paused' }))]);
    const changes = store.take();
    assert.equal(changes.tree, false);
    assert.deepEqual([...changes.nodes], ['root']);
  });
});

test('sessions are upserts, also of the one that is shown', () => {
  const store = shown();
  store.apply([{ kind: 'session_put', session: info({ title: 'New' }) }]);
  assert.equal(store.session.info.title, 'New');
  assert.equal(store.sessions.get(SESSION).title, 'New');
});

test('a snapshot and what follows equals everything from the beginning', () => {
  const events = [
    put(answer('a', '')),
    ...[...'A sentence 😀 that streams in.'].map((char, at) => grew('a', at, char)),
    put(tool('t', 'read_code', { state: 'running' })),
    grew('t', 0, 'line\n', 'output'),
    put(tool('t', 'read_code', { state: 'done', output: 'line\nline' })),
  ];
  const whole = shown();
  whole.apply(events);
  for (let cut = 0; cut <= events.length; cut++) {
    const first = shown();
    first.apply(events.slice(0, cut));
    const snapshot = [...(first.session.conversations.get('root')?.all() ?? [])].map((it) =>
      put(it),
    );
    const later = shown(snapshot);
    // What comes next may overlap with what the snapshot holds already.
    later.apply(
      events.slice(Math.max(0, cut - 3)).filter(({ kind }) => kind === 'entry_grew' || cut === 0),
    );
    later.apply(events.slice(cut));
    assert.deepEqual(texts(later)[0], texts(whole)[0], `cut at ${cut}`);
  }
});

test('changes are told once', () => {
  let told = 0;
  const store = new Store(() => {
    told += 1;
  });
  store.show(SESSION);
  assert.equal(store.take().everything, true);
  store.apply([put(user('u', 'x'))]);
  assert.equal(told, 2);
  assert.deepEqual([...store.take().entries.get('root')], ['u']);
  assert.equal(store.take().entries.size, 0);
});

describe('what is kept', () => {
  test('nonsense is nothing', () => {
    for (const state of [
      undefined,
      null,
      7,
      'x',
      [],
      { tab: 3, drafts: [], history: {}, place: 1 },
    ]) {
      const kept = restore(state);
      assert.equal(kept.tab, 'chat');
      assert.deepEqual(kept.history, []);
      assert.equal(kept.place, undefined);
    }
  });

  test('comes back, within limits', () => {
    const history = Array.from({ length: 300 }, (_, index) => String(index));
    const kept = restore({
      tab: 'memory',
      drafts: { a: { text: 'text', attachments: [] }, b: 3, c: { text: 'text' } },
      history,
      place: { id: 'x', above: 4 },
    });
    assert.equal(kept.tab, 'memory');
    assert.deepEqual(kept.drafts, { a: { text: 'text', attachments: [] } });
    assert.equal(kept.history.length, 100);
    assert.equal(kept.history.at(-1), '299');
    assert.deepEqual(kept.place, { id: 'x', above: 4 });
  });

  test('folded parts', () => {
    const kept = restore(undefined);
    setOpen(kept, 'a', true);
    setOpen(kept, 'b', false, true);
    assert.deepEqual(
      [isOpen(kept, 'a'), isOpen(kept, 'b', true), isOpen(kept, 'c', true)],
      [true, false, true],
    );
    setOpen(kept, 'a', false);
    setOpen(kept, 'b', true, true);
    assert.deepEqual(kept.opened, []);
  });
});

test('numbers have few digits', () => {
  assert.deepEqual([0, 999, 1000, 12_345, 999_499, 999_500, 2_000_000].map(short), [
    '0',
    '999',
    '1.0k',
    '12k',
    '999k',
    '1.0M',
    '2.0M',
  ]);
  assert.deepEqual([0, 0.0042, 0.5, 12].map(cost), ['0', '0.0042', '0.50', '12.00']);
  assert.deepEqual([0.44, 12.6, 75].map(seconds), ['0.4 s', '13 s', '1 min 15 s']);
  assert.match(ago(0, 90_000), /day|yesterday/);
  assert.equal(ago(100, 90), 'just now');
});

describe('both languages', () => {
  const folder = path.resolve(import.meta.dirname, '..', '..', 'client-vscode', 'webview');
  const table = (name) => JSON.parse(readFileSync(path.join(folder, 'strings', name), 'utf8'));
  const places = (text) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

  test('have the same texts with the same places', () => {
    const [english, chinese] = [table('en.json'), table('zh-cn.json')];
    assert.deepEqual(Object.keys(chinese), Object.keys(english));
    for (const [key, text] of Object.entries(english)) {
      assert.deepEqual(places(chinese[key]), places(text), key);
    }
  });

  test('the Chinese one is Chinese', () => {
    const same = new Set(['tool.allowKey', 'tool.denyKey', 'plan.progress']);
    for (const [key, text] of Object.entries(table('zh-cn.json'))) {
      assert.ok(same.has(key) || /\p{Script=Han}/u.test(text), key);
    }
  });
});
