// The overview of a migration in a real Chromium: by the rules of axe in every theme, by keyboard,
// in Chinese, narrow, and with names of a project that would like to be code.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openBrowser, THEMES } from './host.mjs';

const EVIL = '<img src=x onerror="globalThis.hurt=1">';
const line = (at) => ({ start: { line: at, character: 0 }, end: { line: at + 3, character: 0 } });
const it = (id, name, state, more = {}) => ({
  id,
  step: id,
  circle: false,
  name,
  uri: `file:///p/${name}.c`,
  path: 'src/a.c',
  range: line(id * 10),
  state,
  reason: '',
  tests: '',
  testsNote: '',
  ...more,
});
const FUNCTIONS = [
  it(1, 'parse', 'baseline', { tests: 'equal', testsNote: '40' }),
  it(2, 'print', 'idiomatic'),
  it(3, 'leap', 'c', { reason: `setjmp ${EVIL}` }),
  it(4, 'fresh', 'new'),
  it(5, EVIL, 'baseline'),
];
const MIGRATION = {
  folder: 'file:///p/small%20one',
  revision: 3,
  trusted: true,
  running: false,
  resumable: true,
  partial: false,
  stages: [
    { name: 'scan', state: 'done', at: 1_790_000_000, counts: [] },
    { name: 'baseline', state: 'done', at: 1_790_000_010, counts: [] },
    { name: 'build', state: 'failed', counts: [] },
    { name: 'verify', state: 'todo', counts: [] },
    {
      name: 'lift',
      state: 'done',
      at: 1_790_000_020,
      counts: [{ name: 'unsafe_lines', before: 120, after: 40 }],
    },
  ],
  functions: FUNCTIONS,
  skipped: [{ uri: 'file:///p/x.cc', path: 'x.cc', reason: 'C++ is not translated' }],
  passes: [
    { name: 'flags', kept: false, why: 'nothing to do', changed: 0, refused: 0, counts: [] },
    {
      name: 'safety',
      kept: true,
      why: '',
      changed: 12,
      refused: 3,
      counts: [{ name: 'unsafe_lines', before: 120, after: 40 }],
    },
  ],
  strength: { planted: 20, killed: 18 },
  notes: [],
  log: `error[E0308]: mismatched types ${EVIL}\n --> src/a.rs:3:5\n`,
  crate: 'file:///p_rs',
};
const node = (id, name, x, y) => ({
  id,
  kind: 'function',
  name,
  path: 'src/a.c',
  line: id,
  x,
  y,
  width: 80,
});
const GRAPH = {
  width: 320,
  height: 120,
  nodes: [
    node(1, 'parse', 12, 12),
    node(4, 'fresh', 12, 60),
    node(2, 'print', 150, 12),
    node(3, 'leap', 150, 42),
    node(5, EVIL, 150, 72),
  ],
  edges: [
    { source: 1, target: 2, points: [92, 23, 150, 23] },
    { source: 1, target: 3, points: [92, 23, 150, 53] },
    { source: 4, target: 5, points: [92, 71, 150, 83] },
  ],
  omitted: 0,
};

let host;
before(async () => {
  host = await openBrowser();
});
after(() => host.close());

async function open(options) {
  const page = await host.openOverview(options);
  await page.tell({ kind: 'migration', migration: MIGRATION });
  await page.asked('graph');
  await page.tell({ kind: 'graph', graph: GRAPH, asked: { kinds: ['function'] } });
  await page.page.locator('g.node').first().waitFor();
  return page;
}

describe('the overview', () => {
  for (const theme of Object.keys(THEMES)) {
    test(`breaks no rule of axe in the theme ${theme}`, async () => {
      const overview = await open({ theme, height: 1500 });
      assert.deepEqual(await overview.violations(), []);
      const going = { stage: 'build', done: 1, total: 2 };
      await overview.tell({ kind: 'migration', migration: { ...MIGRATION, running: true }, going });
      await overview.page.locator('.stage.is-running', { hasText: '1/2' }).waitFor();
      assert.deepEqual(await overview.violations(), [], 'while it runs');
      await overview.tell({ kind: 'failed', reason: 'No such project.' });
      await overview.page.getByRole('alert').waitFor();
      assert.deepEqual(await overview.violations(), [], 'with a failure');
      assert.deepEqual(overview.errors, []);
      await overview.close();
    });
  }

  test('tells what is verified, what only translated, and what differs', async () => {
    const overview = await open({ height: 700 });
    const { page } = overview;
    const headline = page.locator('.headline');
    assert.equal(await headline.innerText(), '1 of 3 verified, 18 of 20 mutants found');
    const functions = FUNCTIONS.map((it) => (it.id === 2 ? { ...it, tests: 'differs' } : it));
    await overview.tell({ kind: 'migration', migration: { ...MIGRATION, revision: 4, functions } });
    await page.locator('.piece.is-differs').waitFor({ state: 'attached' });
    assert.deepEqual(await page.locator('.headline + .counts .legend li').allInnerTexts(), [
      'Verified 1',
      'Translated 1',
      'Differs 1',
    ]);
    const icons = ['verified-filled', 'pass', 'warning'];
    for (const [at, name] of icons.entries()) {
      assert.equal(await page.locator(`.proof`).nth(at).locator(`.codicon-${name}`).count(), 1);
    }
    assert.deepEqual(await overview.violations(), []);
    if (process.env.JARVIS_PICTURES) {
      await page.screenshot({ path: `${process.env.JARVIS_PICTURES}/proof.png` });
    }
    const untested = FUNCTIONS.map((it) => ({ ...it, tests: '' }));
    const before = { ...MIGRATION, revision: 5, functions: untested };
    await overview.tell({ kind: 'migration', migration: before });
    await headline.waitFor({ state: 'detached' });
    await overview.close();
  });

  test('shows what lifting has made less of', async () => {
    const overview = await open();
    const lift = overview.page.locator('.stage', { hasText: 'Refactor' });
    assert.match(await lift.innerText(), /unsafe lines 120 → 40/);
    await overview.close();
  });

  test('shows what each pass of lifting did, and how strong the tests are', async () => {
    const overview = await open();
    const section = (name) =>
      overview.page.locator('section', { has: overview.page.locator(name) });
    const rows = section('#lifting-title').locator('tbody tr');
    assert.match(await rows.nth(0).innerText(), /flags as bool\s+nothing to do/);
    assert.match(await rows.nth(1).innerText(), /safe functions\s+12\s+3\s+−80/);
    const tests = await section('#tests-title').innerText();
    assert.match(tests, /1 of 5 functions were compared/);
    assert.match(tests, /kill 18 of 20 mutants/);
    await overview.close();
  });

  test('shows names of a project as text', async () => {
    const overview = await open();
    await overview.page.locator('g.node text', { hasText: '<img' }).waitFor();
    await overview.page.locator('.log', { hasText: '<img' }).waitFor();
    assert.equal(await overview.page.locator('img').count(), 0);
    assert.equal(await overview.page.evaluate(() => globalThis.hurt), undefined);
    assert.deepEqual(overview.errors, []);
    await overview.close();
  });

  test('by keyboard: along the lines, in a column, open', async () => {
    const overview = await open();
    const { page } = overview;
    await page.locator('g.node[tabindex="0"]').focus();
    const at = () => page.locator('g.node:focus').getAttribute('data-id');
    const steps = [
      ['ArrowRight', '2'],
      ['ArrowDown', '3'],
      ['ArrowLeft', '1'],
      ['End', '5'],
      ['Home', '1'],
    ];
    for (const [key, id] of steps) {
      await page.keyboard.press(key);
      assert.equal(await at(), id, key);
      assert.equal(await page.locator('g.node[tabindex="0"]').count(), 1);
    }
    await page.keyboard.press('Enter');
    assert.equal((await overview.asked('show')).id, 1);
    const label = await page.locator('g.node:focus').getAttribute('aria-label');
    assert.equal(label, 'parse, Rust (baseline), src/a.c:1, uses 2, used by 0');
    await overview.close();
  });

  test('offers what can be done, and says what stays in C and what was compared', async () => {
    const overview = await open();
    const { page } = overview;
    const offered = () =>
      page.locator('[data-action]').evaluateAll((all) => all.map((it) => it.dataset.action));
    assert.deepEqual(await offered(), ['resume', 'project', 'scan', 'verify', 'lift', 'crate']);
    await page.locator('[data-action=resume]').click();
    assert.equal((await overview.asked('act')).action, 'resume');
    await page.locator('td', { hasText: 'setjmp' }).waitFor();
    await page.getByText('behaves like the C in 40 cases').waitFor();
    await page.locator('label', { hasText: 'Types' }).click();
    assert.deepEqual((await overview.asked('graph', 2)).asked, { kinds: ['function', 'type'] });
    await overview.tell({ kind: 'migration', migration: { ...MIGRATION, running: true } });
    await page.locator('[data-action=stop]').waitFor();
    assert.deepEqual(await offered(), ['stop']);
    await overview.close();
  });

  test('the graph of one function, until the whole is asked for', async () => {
    const overview = await open();
    await overview.tell({ kind: 'migration', migration: MIGRATION, root: 3 });
    assert.equal((await overview.asked('graph', 2)).asked.root, 3);
    const chip = overview.page.locator('.chip', { hasText: 'Only dependencies of leap' });
    await chip.click();
    assert.equal((await overview.asked('graph', 3)).asked.root, undefined);
    await overview.tell({ kind: 'migration', migration: { ...MIGRATION, revision: 4 }, root: 3 });
    assert.equal((await overview.asked('graph', 4)).asked.root, undefined, 'it stays the whole');
    await overview.close();
  });

  test('in Chinese and narrow, nothing is wider than the page', async () => {
    const overview = await open({ locale: 'zh-cn', width: 360 });
    await overview.page.getByText('保留为 C').first().waitFor();
    const wide = await overview.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${wide} pixels`);
    await overview.close();
  });

  test('without trust and before a scan it says so', async () => {
    const overview = await host.openOverview();
    await overview.tell({ kind: 'migration', migration: { ...MIGRATION, trusted: false } });
    await overview.page.getByText('not trusted').waitFor();
    const bare = { ...MIGRATION, functions: [], skipped: [], log: '', stages: [] };
    await overview.tell({ kind: 'migration', migration: bare });
    await overview.page.getByText('not been scanned').waitFor();
    await overview.close();
  });
});
