// The conversation: what streams in, what waits for the user, what the user says and takes back.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openBrowser } from './host.mjs';
import {
  ASKED_EDIT,
  ASKED_SCRIPT,
  answer,
  conversation,
  grew,
  info,
  node,
  put,
  putNode,
  SESSION,
  tool,
  tree,
  user,
} from './sample.mjs';

const PICTURE = {
  session: SESSION,
  events: [{ kind: 'session_put', session: info() }, putNode(node('root'))],
};
const WORKING = [
  { kind: 'session_put', session: info({ working: true }) },
  putNode(node('root', { state: 'running', activity: 'thinks' })),
];

describe('the conversation', () => {
  let host;
  let panel;
  before(async () => {
    host = await openBrowser();
  });
  after(() => host.close());
  beforeEach(async (t) => {
    panel = await host.open({ picture: PICTURE });
    const opened = panel;
    t.after?.(() => opened.close());
  });

  test('Markdown streams in and ends as if it had come at once', async () => {
    const text = conversation().find((it) => it.entry?.id === 'a1').entry.text;
    await panel.events([put(answer('s', '', { streaming: true }))]);
    for (let at = 0; at < text.length; at += 7) {
      await panel.pour([grew('s', at, text.slice(at, at + 7))]);
      if (at % 70 === 0) await panel.settled();
    }
    await panel.settled();
    await panel.events([put(answer('s', text)), put(answer('whole', text))]);
    const html = (id) =>
      panel.page.locator(`[data-id=${id}] .markdown`).evaluate((it) => it.innerHTML);
    await panel.becomes(() => html('s'), await html('whole'));
    assert.equal(await panel.page.locator('[data-id=s] table').count(), 1);
    assert.ok((await panel.page.locator('[data-id=s] .hljs-keyword').count()) > 0);
  });

  test('tasks of auto mode are a graph with live state, walked by keys', async () => {
    const task = (id, needs, state, more = {}) => ({
      id,
      title: `Task ${id}`,
      needs,
      state,
      node: `n-${id}`,
      attempts: 1,
      corrections: [],
      error: '',
      ...more,
    });
    const graph = (state, ...tasks) => put({ kind: 'tasks', id: 'g', state, tasks });
    const slow = {
      attempts: 2,
      corrections: [{ cause: 'stuck', kind: 'redirect', text: 'Go on' }],
    };
    const running = [
      task('a', [], 'done'),
      task('b', [], 'running', slow),
      task('c', ['a'], 'waiting', { title: '为每个公开的函数编写完整的文档和测试' }),
      task('<i>d</i> with a long title', ['b', 'c'], 'waiting'),
    ];
    await panel.events([graph('running', ...running)]);
    const mark = (id) => panel.page.locator(`.task[data-id="${id}"]`);
    await mark('a').waitFor();
    const place = async (id) => Number(await mark(id).locator('rect').getAttribute('y'));
    assert.equal(await place('a'), await place('b'));
    assert.ok((await place('c')) > (await place('a')));
    assert.equal(await panel.page.locator('.task i').count(), 0);
    assert.equal(await panel.page.locator('.task-edge').count(), 3);
    const width = (id, part) =>
      mark(id)
        .locator(part)
        .evaluate((it) => it.getBBox().width);
    for (const id of ['a', 'c', running[3].id]) {
      assert.ok((await width(id, 'text')) < (await width(id, 'rect')) - 8, id);
    }
    const drawn = await panel.page.locator('.tasks-scroll svg').getAttribute('width');
    assert.ok(Number(drawn) <= 272, 'two side by side fit into the first width of the side bar');
    await mark('a').focus();
    await panel.page.keyboard.press('ArrowRight');
    await panel.page.locator('.task-detail', { hasText: 'attempt 2' }).waitFor();
    await panel.page.locator('.task-detail li', { hasText: 'told to go on differently' }).waitFor();
    await panel.page.keyboard.press('Home');
    await panel.page.keyboard.press('ArrowDown');
    assert.equal(await mark('c').evaluate((it) => it === document.activeElement), true);
    if (process.env.JARVIS_PANEL_PICTURES) {
      await panel.page.screenshot({ path: `${process.env.JARVIS_PANEL_PICTURES}/tasks.png` });
    }
    await panel.events([graph('done', ...running.map((it) => ({ ...it, state: 'done' })))]);
    await panel.page.locator('.tasks[data-state=done]').waitFor();
    assert.equal(await panel.page.locator('.task[data-state=done]').count(), 4);
    assert.equal(await mark('c').evaluate((it) => it === document.activeElement), true);
  });

  test('a text becomes a task of auto mode by a button', async () => {
    const field = panel.page.locator('.composer textarea');
    await field.fill('Document the library');
    await panel.page.locator('[data-part=auto]').click();
    assert.equal(await field.inputValue(), '/auto Document the library');
    await panel.page.locator('[data-part=auto]').click();
    assert.equal(await field.inputValue(), '/auto Document the library');
  });

  test('Agent mode is in the menu of modes and makes a task of what is written', async () => {
    const field = panel.page.locator('.composer textarea');
    await field.fill('/auto Rename the store');
    await panel.page.locator('[data-part=mode]').click();
    await panel.page.getByRole('menuitemradio', { name: /^Agent/ }).click();
    assert.equal(await field.inputValue(), '/change Rename the store');
    await field.fill('');
  });

  test('finished blocks stay the same elements while the rest streams in', async () => {
    await panel.events([put(answer('s', 'First.\n\n', { streaming: true }))]);
    await panel.events([grew('s', 8, 'Second.\n\nThi')]);
    await panel.page.locator('[data-id=s]').getByText('Thi').waitFor();
    await panel.page
      .locator('[data-id=s] p')
      .first()
      .evaluate((it) => it.setAttribute('data-mine', ''));
    await panel.events([grew('s', 20, 'rd.\n\n- a\n')]);
    await panel.page.locator('[data-id=s] li').waitFor();
    assert.equal(await panel.page.locator('[data-id=s] [data-mine]').count(), 1);
  });

  test('a link defined at the end is one at the beginning', async () => {
    await panel.events([put(answer('s', 'See [it][1].\n\nMore.\n\n', { streaming: true }))]);
    await panel.events([put(answer('s', 'See [it][1].\n\nMore.\n\n[1]: https://a.example/x\n'))]);
    await panel.page.locator('[data-id=s] a').click();
    assert.deepEqual(await panel.asked('open_link'), {
      kind: 'open_link',
      url: 'https://a.example/x',
    });
  });

  test('a link to a file opens it at its line; others are refused in words', async () => {
    await panel.events([
      put(answer('s', '[a](src/a%20b.c:88) [b](./x/y.rs#L7-L9) [c](mailto:me@a.example)')),
    ]);
    const links = panel.page.locator('[data-id=s] a');
    await links.nth(0).click();
    assert.deepEqual(await panel.asked('open_file', 1), {
      kind: 'open_file',
      path: 'src/a b.c',
      line: 88,
    });
    await links.nth(1).click();
    assert.deepEqual(await panel.asked('open_file', 2), {
      kind: 'open_file',
      path: 'x/y.rs',
      line: 7,
    });
    await links.nth(2).click();
    await panel.page.locator('.toast', { hasText: 'Only web links' }).waitFor();
    await panel.events([put(answer('w', '[w](C:/ws/a.c:3) [n](../up.c) [q](a?b=c#frag)'))]);
    await panel.page.locator('[data-id=w] a').first().click();
    assert.deepEqual(await panel.asked('open_file', 3), {
      kind: 'open_file',
      path: 'C:/ws/a.c',
      line: 3,
    });
  });

  for (const [what, grown, again] of [
    ['that still grows', grew('s', 31, ' And on.'), true],
    ['that ends', put(answer('s', 'See [a](src/a.c) and [b](b.c).\n')), false],
  ]) {
    test(`a link pressed in an answer ${what} opens its file`, async () => {
      await panel.events([
        put(answer('s', 'See [a](src/a.c) and [b](b.c).\n', { streaming: true })),
      ]);
      await panel.page.locator('[data-id=s] a').first().hover();
      await panel.page.mouse.down();
      await panel.events([grown]);
      await panel.page.mouse.up();
      assert.deepEqual(await panel.asked('open_file', 1), {
        kind: 'open_file',
        path: 'src/a.c',
        line: 0,
      });
      if (again) await panel.page.locator('[data-id=s]', { hasText: 'And on.' }).waitFor();
      await panel.page.locator('[data-id=s] a').nth(1).click();
      assert.equal((await panel.asked('open_file', 2)).path, 'b.c');
    });
  }

  test('what comes while a press goes on for long is shown all the same', async () => {
    await panel.events([put(answer('s', 'See [a](src/a.c)', { streaming: true }))]);
    await panel.page.locator('[data-id=s] a').hover();
    await panel.page.mouse.down();
    await panel.events([grew('s', 16, ' and more.')]);
    await panel.page.locator('[data-id=s]', { hasText: 'and more.' }).waitFor();
    await panel.page.mouse.up();
  });

  test('a picture in a text is a link to it: nothing is fetched', async () => {
    await panel.events([put(answer('s', '![a "plan"](https://a.example/plan.png)'))]);
    assert.equal(await panel.page.locator('[data-id=s] img').count(), 0);
    await panel.page.locator('[data-id=s] a', { hasText: 'a "plan"' }).click();
    assert.equal((await panel.asked('open_link')).url, 'https://a.example/plan.png');
  });

  test('markup in a text is text, but for simple elements', async () => {
    const text =
      'H<sub>2</sub>O <b class="x">bold</b> <font>a</font>\n\n<details>\n<summary>More</summary>\n\nInside\n\n</details>\n';
    await panel.events([put(answer('s', text))]);
    const row = panel.page.locator('[data-id=s] .markdown');
    assert.equal(await row.locator('sub').textContent(), '2');
    assert.equal(await row.locator('b').count(), 0);
    await row.getByText('<b class="x">bold', { exact: false }).waitFor();
    await row.getByText('<font>a</font>', { exact: false }).waitFor();
  });

  test('the reader at the end stays there, one who reads above is not moved', async () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      put(answer(`m${index}`, `Answer ${index}\n\nwith two lines`)),
    );
    await panel.events(many);
    const frame = panel.page.locator('.entries');
    const isAtEnd = () =>
      frame.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 3);
    await panel.becomes(isAtEnd, true);
    await panel.events([
      put(answer('s', 'x', { streaming: true })),
      grew('s', 1, '\n\n\nlong\n\n'.repeat(30)),
    ]);
    await panel.becomes(isAtEnd, true);
    await panel.page.mouse.move(150, 300);
    await panel.page.mouse.wheel(0, -900);
    await panel.page.locator('.to-end button').waitFor();
    await panel.settled();
    const place = () =>
      frame.evaluate((it) => {
        const top = it.getBoundingClientRect().top;
        const row = [...it.querySelectorAll('.row')].find(
          (one) => one.getBoundingClientRect().bottom > top + 30,
        );
        return [row.dataset.id, Math.round(row.getBoundingClientRect().top)];
      });
    const before = await place();
    await panel.events([
      put(answer('n1', 'new')),
      grew('s', 400, 'more\n\n'.repeat(20)),
      put(answer('n2', 'new')),
    ]);
    assert.deepEqual(await place(), before);
    await panel.page.locator('.to-end button').click();
    await panel.becomes(isAtEnd, true);
  });

  test('only what can be seen is in the page', async () => {
    await panel.events(
      Array.from({ length: 3000 }, (_, index) => put(user(`m${index}`, `Message ${index}`))),
    );
    assert.ok((await panel.page.locator('.long-list > .row').count()) < 60);
    await panel.toBeginning();
    await panel.page.getByText('Message 0', { exact: true }).waitFor();
    assert.equal(await panel.page.locator('[data-id=m0]').getAttribute('aria-setsize'), '3000');
  });

  test('a tool that asks says what for, and is allowed, denied, or always allowed', async () => {
    await panel.events([put(ASKED_SCRIPT)]);
    const row = panel.page.locator('[data-id=t3]');
    // The script as it was written, not JSON and not taken apart, with what it can reach.
    await panel.becomes(
      () => row.locator('pre.arguments').textContent(),
      'make check 2>&1 | tail -5\n./run-tests --fast',
    );
    await row.getByText('/ws/parser').waitFor();
    await row.getByText('No network').waitFor();
    await row.getByText('Sandbox: bwrap').waitFor();
    assert.equal(await row.getByText('"script"').count(), 0);
    assert.equal(await row.locator('.targets').count(), 0);
    await row.getByText('No rule allows these commands yet.').waitFor();
    await row.getByRole('button', { name: 'Allow', exact: true }).click();
    assert.deepEqual(await panel.asked('permit', 1), {
      kind: 'permit',
      session: SESSION,
      entry: 't3',
      allowed: true,
      scope: 'call',
      note: '',
    });
    await row.getByLabel('Tell the agent why').fill('use make test');
    await row.getByRole('button', { name: 'Deny' }).click();
    assert.deepEqual(await panel.asked('permit', 2), {
      kind: 'permit',
      session: SESSION,
      entry: 't3',
      allowed: false,
      scope: 'call',
      note: 'use make test',
    });
    for (const [name, scope, count] of [
      ['In this session', 'session', 3],
      ['In this workspace', 'workspace', 4],
      ['Everywhere', 'user', 5],
    ]) {
      await row.getByRole('button', { name: 'Always' }).click();
      await panel.page.getByRole('menuitem', { name }).click();
      const { scope: asked, allowed } = await panel.asked('permit', count);
      assert.deepEqual([asked, allowed], [scope, true]);
    }
    await panel.events([put({ ...ASKED_SCRIPT, lasting: false })]);
    await row.getByRole('button', { name: 'Always' }).waitFor({ state: 'detached' });
    await panel.events([
      put({ ...ASKED_SCRIPT, state: 'done', asked: [], output: 'ok', isolation: 'bubblewrap' }),
    ]);
    assert.equal(await row.locator('.consent').count(), 0);
    await row.getByText('bubblewrap').waitFor();
    await panel.events([
      put({ ...ASKED_SCRIPT, state: 'done', asked: [], isolation: 'none (copy)' }),
    ]);
    await row.locator('.badge', { hasText: 'No sandbox' }).waitFor();
  });

  test('consent by keys is given only to what is in sight', async () => {
    await panel.events([
      put(ASKED_SCRIPT),
      ...Array.from({ length: 40 }, (_, index) => put(answer(`m${index}`, 'x\n\ny\n\nz'))),
    ]);
    await panel.page.locator('.attention').waitFor();
    await panel.page.locator('.composer textarea').focus();
    await panel.page.keyboard.press('Control+Enter');
    await panel.page.locator('[data-id=t3] .consent').waitFor();
    assert.equal((await panel.asks('permit')).length, 0);
    await panel.settled();
    await panel.page.keyboard.press('Control+Enter');
    assert.equal((await panel.asked('permit')).allowed, true);
    await panel.page.keyboard.press('Control+Backspace');
    assert.equal((await panel.asked('permit', 2)).allowed, false);
  });

  test('consent by keys is only consent, whatever has the focus, and ends the menu', async () => {
    await panel.events([put(ASKED_SCRIPT)]);
    const { page } = panel;
    await page.getByRole('button', { name: 'Always' }).focus();
    await page.keyboard.press('Control+Enter');
    assert.equal((await panel.asked('permit')).allowed, true);
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Always' }).click();
    await page.getByRole('menu').waitFor();
    await panel.events([put({ ...ASKED_SCRIPT, state: 'cancelled', asked: [] })]);
    await page.getByRole('menu').waitFor({ state: 'detached' });
  });

  test('what a command lists is read as a list, a fault as it was said', async () => {
    await panel.events([
      put({ kind: 'notice', id: 'n1', level: 'info', text: 'Commands:\n- `/help`: list *them*' }),
      put({ kind: 'notice', id: 'n2', level: 'error', text: 'HTTP 400: no `a` *b*' }),
    ]);
    const [list, fault] = await panel.page.locator('.notice-text').all();
    assert.equal(await list.locator('li > code').innerText(), '/help');
    assert.equal(
      await list.locator('ul').evaluate((it) => getComputedStyle(it).whiteSpace),
      'normal',
    );
    assert.equal(await fault.innerText(), 'HTTP 400: no `a` *b*');
  });

  test('a turn that failed is tried again by a button, which goes when it works', async () => {
    const root = node('root', { state: 'failed', error: 'HTTP 500' });
    await panel.events([putNode(root)]);
    const retry = panel.page.locator('[data-part=retry]');
    await retry.click();
    const asked = await panel.asked('control');
    assert.deepEqual([asked.node, asked.action], ['root', 'retry']);
    await panel.events([putNode({ ...root, state: 'running', error: '' })]);
    await retry.waitFor({ state: 'detached' });
  });

  for (const [wrong, part, ask] of [
    ['key', 'set-key', { kind: 'set_key', provider: 'house' }],
    ['model', 'choose-model', { kind: 'set_up_model', provider: 'house' }],
    ['credit', 'choose-model', { kind: 'set_up_model', provider: '' }],
  ]) {
    test(`below a turn that failed for want of ${wrong} stands what can be done`, async () => {
      const fault = { id: 'f', level: 'error', text: 'no', wrong, provider: 'house' };
      const root = node('root', { state: 'failed', error: 'no' });
      await panel.events([put({ ...fault, kind: 'notice' }), putNode(root)]);
      assert.deepEqual(await panel.page.locator('.status .link-button').allInnerTexts(), [
        part === 'set-key' ? 'Set Key' : 'Choose Model',
        'Retry',
      ]);
      await panel.page.locator(`[data-part=${part}]`).click();
      assert.deepEqual(await panel.asked(ask.kind), ask);
      await panel.events([putNode({ ...root, state: 'running' })]);
      await panel.page.locator('.working').waitFor();
      assert.equal(await panel.page.locator(`[data-part=${part}]`).count(), 0);
    });
  }

  test('a change says in which of several folders the file is', async () => {
    const picture = { ...PICTURE, folders: ['one', 'two'] };
    await panel.close();
    panel = await host.open({ picture });
    const edit = { ...ASKED_EDIT.edits[0], path: 'a.txt', root: 1 };
    await panel.events([put({ ...ASKED_EDIT, edits: [edit] })]);
    assert.equal(await panel.page.locator('.brief').innerText(), 'two/a.txt');
    assert.equal(await panel.page.locator('.diff-head .path').innerText(), 'two/a.txt');
  });

  test('a folded call says what it is about', async () => {
    const files = [{ path: 'src/a.c' }, { path: 'src/b.c', start_line: 3 }];
    await panel.events([
      put(tool('r', 'read_code', { arguments: JSON.stringify({ files }) })),
      put(tool('s', 'search_in_project', { arguments: '{"regex": true, "query": "free"}' })),
      put(
        tool('w', 'rewrite_file', { arguments: '{"file_path": "src/\\u00e4.c", "content": "int ' }),
      ),
    ]);
    const briefs = panel.page.locator('.brief');
    assert.deepEqual(await briefs.allInnerTexts(), ['src/a.c +1', 'free', 'src/ä.c']);
  });

  test('three calls and more that only look at things are folded into one row', async () => {
    const read = (id, path, more = {}) =>
      put(tool(id, 'read_code', { arguments: JSON.stringify({ files: [{ path }] }), ...more }));
    await panel.events([read('r1', 'a.c'), read('r2', 'b.c')]);
    const cards = panel.page.locator('.row > .tool-card');
    assert.equal(await cards.count(), 2);
    await panel.events([read('r3', 'c.c', { state: 'running' })]);
    assert.equal(await cards.count(), 3);
    await panel.page.locator('[data-id=r2]').focus();
    await panel.events([read('r3', 'c.c')]);
    assert.equal(await cards.count(), 1);
    const group = panel.page.locator('[data-id="group:r1"]');
    assert.equal(await group.evaluate((it) => it === document.activeElement), true);
    assert.equal(await group.getAttribute('aria-label'), '3 steps: Read a.c, b.c, c.c');
    const search = { arguments: '{"query": "free"}' };
    await panel.events([put(tool('s', 'search_in_project', search)), put(answer('a', 'So.'))]);
    assert.equal(
      await group.getAttribute('aria-label'),
      '4 steps: Read, Search a.c, b.c, c.c, free',
    );
    await group.locator('summary').first().click();
    const inside = group.locator('.group .tool-card');
    await panel.becomes(() => inside.count(), 4);
    assert.deepEqual(await inside.locator('.brief').allInnerTexts(), ['a.c', 'b.c', 'c.c', 'free']);
    await inside.first().locator('summary').click();
    await panel.becomes(() => inside.first().getAttribute('open'), '');
    await panel.events([read('r4', 'd.c')]);
    assert.equal(await cards.count(), 2, 'after the answer another run begins');
  });

  test('a script that waits for its changes is still the script', async () => {
    await panel.events([put({ ...ASKED_SCRIPT, edits: ASKED_EDIT.edits })]);
    assert.match(await panel.page.locator('.tool-card .brief').innerText(), /^make check/);
  });

  test('a file that is not there yet is opened as the diff that makes it', async () => {
    const edit = { ...ASKED_EDIT.edits[0], change: 'create' };
    await panel.events([put({ ...ASKED_EDIT, edits: [edit] })]);
    await panel.page.locator('.diff-head .path').click();
    assert.equal((await panel.asked('show_diff')).path, edit.path);
  });

  test('an edit is taken by hunk', async () => {
    await panel.events([put(ASKED_EDIT)]);
    const row = panel.page.locator('[data-id=t4]');
    await row.getByRole('checkbox', { name: 'Change 2' }).uncheck();
    await row.getByRole('button', { name: 'Accept 1 of 2' }).click();
    assert.deepEqual(await panel.asked('review', 1), {
      kind: 'review',
      session: SESSION,
      entry: 't4',
      accepted: { 'src/parser/header.c': [0] },
      scope: 'call',
      note: '',
    });
    await row.getByRole('checkbox', { name: 'Change 2' }).check();
    await row.getByRole('button', { name: 'Accept all' }).click();
    assert.deepEqual((await panel.asked('review', 2)).accepted, { 'src/parser/header.c': [0, 1] });
    await row.getByRole('button', { name: 'Always' }).click();
    await panel.page.getByRole('menuitem', { name: 'In this workspace' }).click();
    assert.equal((await panel.asked('review', 3)).scope, 'workspace');
    await row.getByRole('button', { name: 'Reject' }).click();
    assert.deepEqual((await panel.asked('review', 4)).accepted, {});
    await row.getByRole('button', { name: /Compare in the editor/ }).click();
    assert.deepEqual(await panel.asked('show_diff'), {
      kind: 'show_diff',
      session: SESSION,
      entry: 't4',
      path: 'src/parser/header.c',
      root: 0,
    });
    await row.locator('.path').click();
    assert.equal((await panel.asked('open_file')).line, 14);
  });

  test('what was chosen in the diff of the editor is shown, and kept', async () => {
    await panel.events([put(ASKED_EDIT)]);
    const accepted = { 'src/parser/header.c': [0] };
    await panel.tell({ kind: 'hunks', entry: 't4', accepted });
    const row = panel.page.locator('[data-id=t4]');
    assert.equal(await row.getByRole('checkbox', { name: 'Change 2' }).isChecked(), false);
    const kept = async () => (await panel.state())?.begun?.t4?.refused;
    await panel.becomes(kept, ['1 src/parser/header.c']);
    await row.getByRole('button', { name: 'Accept 1 of 2' }).click();
    assert.deepEqual((await panel.asked('review', 1)).accepted, accepted);
  });

  test('the line below says in words what is done, and who is waited for', async () => {
    const line = panel.page.locator('.working');
    const edit = { ...ASKED_EDIT, state: 'running' };
    await panel.events([...WORKING, put(edit)]);
    assert.equal(await line.innerText(), 'Edit src/parser/header.c');
    await panel.events([put(ASKED_EDIT)]);
    assert.equal(await line.innerText(), 'Waiting for you');
    await panel.events([put({ ...ASKED_EDIT, state: 'done' })]);
    assert.equal(await line.innerText(), 'thinks');
  });

  test('code goes to the cursor of the editor', async () => {
    await panel.events([put(answer('c1', 'Use this:\n\n```c\nfree(p);\np = NULL;\n```\n'))]);
    await panel.page
      .locator('.code-block')
      .getByRole('button', { name: 'Insert at cursor' })
      .click();
    assert.equal((await panel.asked('insert_code')).text, 'free(p);\np = NULL;');
  });

  test('code goes to the file that the words before it name', async () => {
    const text =
      'First this.\n\n1. In `src/a.c`:\n\n   ```c\n   f();\n   ```\n\nIn b.c:\n\n```c b.c\ng();\n```\n';
    await panel.events([put(answer('c2', text))]);
    const button = panel.page
      .locator('[data-id=c2]')
      .getByRole('button', { name: 'Apply to file' });
    await button.nth(0).click();
    const nested = await panel.asked('apply_code');
    assert.deepEqual([nested.text, nested.before], ['f();', 'In src/a.c:']);
    await button.nth(1).click();
    const named = await panel.asked('apply_code', 1);
    assert.deepEqual([named.text, named.info, named.before], ['g();', 'c b.c', 'In b.c:']);
  });

  test('what a child agent asks is told in the main conversation', async () => {
    await panel.events([...tree(), put(ASKED_SCRIPT, 'n1')]);
    const bar = panel.page.locator('.attention');
    await bar
      .getByText(
        'Callers of parse_header: Waiting for your approval: Run make check && ./run-tests --fast',
      )
      .waitFor();
    await bar.getByRole('button', { name: 'Show' }).click();
    await panel.page.locator('[data-id=t3] .consent').waitFor();
    await panel.page.getByRole('heading', { name: 'Callers of parse_header' }).waitFor();
    await panel.page.getByRole('button', { name: 'Back to the main conversation' }).click();
    await panel.page.locator('.title-button').waitFor();
  });

  test('a question is answered by a choice or in words', async () => {
    await panel.events([
      put({ kind: 'question', id: 'q1', text: 'Go on?', choices: ['Yes', 'No'] }),
      put({ kind: 'question', id: 'q2', text: 'Which file?', choices: [] }),
    ]);
    await panel.page.getByRole('button', { name: 'No', exact: true }).click();
    assert.deepEqual(await panel.asked('answer', 1), {
      kind: 'answer',
      session: SESSION,
      entry: 'q1',
      text: 'No',
    });
    await panel.page.getByLabel('Your answer').fill('a.c');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await panel.asked('answer', 2), {
      kind: 'answer',
      session: SESSION,
      entry: 'q2',
      text: 'a.c',
    });
    await panel.events([
      put({ kind: 'question', id: 'q2', text: 'Which file?', choices: [], answer: 'a.c' }),
    ]);
    assert.equal(await panel.page.getByLabel('Your answer').count(), 0);
  });

  test('output streams into an open card', async () => {
    await panel.events([put(tool('t', 'execute_script', { state: 'running', output: 'one\n' }))]);
    await panel.page.locator('[data-id=t] summary').click();
    await panel.events([grew('t', 4, '\u001b[31mtwo\u001b[0m\n', 'output')]);
    assert.equal(await panel.page.locator('[data-id=t] .output').textContent(), 'one\ntwo\n');
  });

  test('a script in the background is seen to run, and is stopped', async () => {
    const more = { state: 'running', background: 'b1', output: 'one\ntwo\n' };
    const script = tool('t', 'execute_script', more);
    await panel.events([put(script)]);
    const line = panel.page.locator('[data-id=t] .behind');
    assert.match(await line.innerText(), /b1 runs in the background\s+two\s+Stop/);
    const status = panel.page.locator('.status');
    assert.match(await status.innerText(), /1 script runs in the background/);
    await panel.events([put(tool('u', 'execute_script', { ...more, background: 'b2' }))]);
    assert.match(await status.innerText(), /2 scripts run in the background/);
    await line.getByRole('button', { name: 'Stop' }).click();
    assert.equal((await panel.asked('end_script')).entry, 't');
    await panel.events([put({ ...script, state: 'cancelled', reason: 'It was ended.' })]);
    await line.waitFor({ state: 'detached' });
    assert.match(await status.innerText(), /1 script runs/);
    await panel.events([{ kind: 'entries_cut', session: SESSION, node: 'root', first: 'u' }]);
    await panel.becomes(() => status.isHidden(), true);
  });

  test('of a long output in the background the end is in sight', async () => {
    const lines = (last) => Array.from({ length: 300 }, (_, n) => `line ${n + last}\n`).join('');
    const script = tool('t', 'execute_script', { state: 'running', background: 'b1' });
    await panel.events([put({ ...script, output: lines(0) })]);
    await panel.page.locator('[data-id=t] summary').click();
    await panel.events([put({ ...script, output: `… 9 …\n${lines(500)}` })]);
    const output = panel.page.locator('[data-id=t] .output');
    const below = () =>
      output.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight < 5);
    await panel.becomes(below, true);
    assert.match(await output.textContent(), /line 799\n$/);
  });

  test('thoughts are folded until they are asked for', async () => {
    await panel.events([put(answer('a', '', { thinking: 'Hm', streaming: true }))]);
    await panel.page.getByText('Thinking…').click();
    await panel.events([grew('a', 2, ', so', 'thinking')]);
    assert.equal(await panel.page.locator('.thoughts').textContent(), 'Hm, so');
  });

  test('a message is sent, one during work is queued and can be taken back', async () => {
    const field = panel.page.locator('.composer textarea');
    await field.fill('  Hello  ');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await panel.asked('send'), {
      kind: 'send',
      session: SESSION,
      text: 'Hello',
      node: '',
      images: [],
      attachments: [],
    });
    await panel.becomes(() => field.inputValue(), '');
    await panel.events([...WORKING, put(user('q', 'and this', { queued: true }))]);
    await panel.page.getByRole('button', { name: 'Stop (Esc)' }).waitFor();
    await panel.page.getByRole('button', { name: 'Edit queued message' }).click();
    const back = await panel.asked('rewind');
    assert.deepEqual([back.entry, back.what], ['q', 'conversation']);
    await panel.page.waitForFunction(
      () => document.querySelector('.composer textarea').value === 'and this',
    );
  });

  test('a message that could not be sent is still there', async () => {
    await panel.answer('send', { failed: 'The server is busy.' });
    const field = panel.page.locator('.composer textarea');
    await field.fill('Hello');
    await panel.page.keyboard.press('Enter');
    await panel.page.locator('.toast', { hasText: 'The server is busy.' }).waitFor();
    await panel.becomes(() => field.inputValue(), 'Hello');
  });

  test('what is typed while a message is on its way follows it, in order', async () => {
    await panel.answer('send', { held: true });
    const field = panel.page.locator('.composer textarea');
    for (const text of ['first', 'second', 'third']) {
      await field.fill(text);
      await panel.page.keyboard.press('Enter');
      await panel.becomes(() => field.inputValue(), '');
    }
    assert.equal((await panel.asks('send')).length, 1);
    await panel.release();
    await panel.asked('send', 3);
    const texts = (await panel.asks('send')).map(({ text }) => text);
    assert.deepEqual(texts, ['first', 'second', 'third']);
  });

  test('Escape in the empty field stops', async () => {
    await panel.events(WORKING);
    const field = panel.page.locator('.composer textarea');
    await field.fill('draft');
    await panel.page.keyboard.press('Escape');
    assert.equal((await panel.asks('stop')).length, 0);
    await field.fill('');
    await panel.page.keyboard.press('Escape');
    assert.deepEqual(await panel.asked('stop'), { kind: 'stop', session: SESSION });
  });

  test('what was said before comes back by the arrow keys, the draft stays', async () => {
    const field = panel.page.locator('.composer textarea');
    for (const text of ['first', 'second']) {
      await field.fill(text);
      await panel.page.keyboard.press('Enter');
      await panel.page.waitForFunction(
        () => document.querySelector('.composer textarea').value === '',
      );
    }
    await field.fill('draft');
    await field.evaluate((it) => it.setSelectionRange(0, 0));
    for (const expected of ['second', 'first', 'first']) {
      await panel.page.keyboard.press('ArrowUp');
      await panel.becomes(() => field.inputValue(), expected);
    }
    await field.evaluate((it) => it.setSelectionRange(it.value.length, it.value.length));
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('ArrowDown');
    await panel.becomes(() => field.inputValue(), 'draft');
  });

  test('@ and / are completed', async () => {
    await panel.answer('complete', {
      items: [
        { kind: 'file', label: 'header.c', insert: '@src/header.c', detail: 'src' },
        { kind: 'file', label: 'header.h', insert: '@src/header.h', detail: 'src' },
      ],
    });
    const field = panel.page.locator('.composer textarea');
    await field.focus();
    await panel.page.keyboard.type('look at @hea');
    const options = panel.page.getByRole('option');
    await options.first().waitFor();
    assert.deepEqual(await panel.asked('complete'), {
      kind: 'complete',
      trigger: '@',
      text: 'hea',
    });
    assert.equal(await field.getAttribute('aria-activedescendant'), 'completion-0');
    await panel.page.keyboard.press('ArrowDown');
    assert.equal(await field.getAttribute('aria-activedescendant'), 'completion-1');
    await panel.page.keyboard.press('Enter');
    await panel.becomes(() => field.inputValue(), 'look at @src/header.h ');
    assert.equal(await options.count(), 0);
    assert.equal((await panel.asks('send')).length, 0);
    await panel.page.keyboard.type('@x');
    await options.first().waitFor();
    await panel.page.keyboard.press('Escape');
    assert.equal(await options.count(), 0);
    await field.fill('/sc');
    await options.first().waitFor();
    assert.equal((await panel.asks('complete')).at(-1).trigger, '/');
    // What was asked for before a message was sent does not come up behind it.
    await panel.answer('complete', {
      items: [{ kind: 'command', label: '/scan', insert: '/scan', detail: '' }],
    });
    await field.fill('/scan');
    await panel.page.getByRole('option', { name: '/scan' }).waitFor();
    await panel.page.keyboard.press('Enter');
    assert.equal((await panel.asked('send')).text, '/scan');
    await panel.passes(200);
    assert.equal(await options.count(), 0);
  });

  test('what is chosen of the completions stays when nothing was typed since', async () => {
    const file = (name) => ({ kind: 'file', label: name, insert: `@${name}`, detail: '' });
    await panel.answer('complete', { items: [file('a.c'), file('b.c')] });
    await panel.page.locator('.composer textarea').fill('@');
    await panel.page.getByRole('option').first().waitFor();
    await panel.page.keyboard.press('ArrowDown');
    // On a busy machine the editor tells only now that the cursor has moved with what was typed.
    await panel.page.evaluate(() => document.dispatchEvent(new Event('selectionchange')));
    await panel.passes(200);
    await panel.page.keyboard.press('Enter');
    const field = panel.page.locator('.composer textarea');
    await panel.becomes(() => field.inputValue(), '@b.c ');
  });

  test('files and pictures go along and can be removed', async () => {
    await panel.tell({
      kind: 'insert',
      text: '',
      attachments: [
        { kind: 'selection', path: 'src/a.c', root: 0, startLine: 3, endLine: 9, text: 'x' },
        { kind: 'file', path: 'src/b.c', root: 0 },
      ],
    });
    await panel.page.locator('.chip', { hasText: 'a.c:3-9' }).waitFor();
    await panel.page.getByRole('button', { name: 'Remove b.c' }).click();
    await panel.page.locator('.composer textarea').evaluate((it) => {
      const bytes = Uint8Array.from(
        atob(
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        ),
        (c) => c.charCodeAt(0),
      );
      const data = new DataTransfer();
      data.items.add(new File([bytes], 'a.png', { type: 'image/png' }));
      data.items.add(new File(['x'], 'a.txt', { type: 'text/plain' }));
      it.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await panel.page.locator('.chip', { hasText: 'Image 1' }).waitFor();
    await panel.page.locator('.toast', { hasText: 'a.txt is not a supported image' }).waitFor();
    await panel.page.locator('.composer textarea').focus();
    await panel.page.keyboard.press('Enter');
    const sent = await panel.asked('send');
    assert.deepEqual(
      sent.attachments.map(({ path }) => path),
      ['src/a.c'],
    );
    assert.equal(sent.images[0].mediaType, 'image/png');
    await panel.page.locator('.chip').waitFor({ state: 'detached' });
  });

  test('dropped files are given to the extension', async () => {
    await panel.page.locator('.composer').evaluate((it) => {
      const data = new DataTransfer();
      data.setData('text/uri-list', '# list\r\nfile:///ws/a.c\r\nfile:///ws/b.c');
      it.dispatchEvent(
        new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
      it.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    });
    assert.deepEqual((await panel.asked('drop')).uris, ['file:///ws/a.c', 'file:///ws/b.c']);
  });

  test('back to before a message, by files, conversation or both; a fork begins there', async () => {
    await panel.events([
      put(user('u', 'Repair it', { checkpoint: 'c' })),
      put(user('v', 'no checkpoint')),
    ]);
    await panel.answer('rewind', { text: 'Repair it', files: ['a.c', 'b.c'], kept: ['c.c'] });
    const row = panel.page.locator('[data-id=u]');
    let count = 0;
    for (const [name, what] of [
      ['Files and conversation', 'both'],
      ['Files only', 'files'],
      ['Conversation only', 'conversation'],
    ]) {
      await row.hover();
      await row.getByRole('button', { name: 'Restore to before this message' }).click();
      await panel.page.getByRole('menuitem', { name }).click();
      count += 1;
      const back = await panel.asked('rewind', count);
      assert.deepEqual([back.entry, back.what], ['u', what]);
    }
    assert.equal((await panel.asks('confirm')).length, 3);
    await panel.page.waitForFunction(
      () => document.querySelector('.composer textarea').value === 'Repair it',
    );
    const other = panel.page.locator('[data-id=v]');
    await other.hover();
    await other.getByRole('button', { name: 'Restore to before this message' }).click();
    assert.equal(
      await panel.page.getByRole('menuitem', { name: 'Files only' }).getAttribute('aria-disabled'),
      'true',
    );
    await panel.page.keyboard.press('Escape');
    await panel.answer('fork', { session: 'forked' });
    await row.hover();
    await row.getByRole('button', { name: 'New session from before this message' }).click();
    await panel.asked('attach', 2);
    assert.equal((await panel.asks('attach')).at(-1).session, 'forked');
  });

  test('when the user says no, nothing goes back', async () => {
    await panel.answer('confirm', { yes: false });
    await panel.events([put(user('u', 'Repair it', { checkpoint: 'c' }))]);
    const row = panel.page.locator('[data-id=u]');
    await row.hover();
    await row.getByRole('button', { name: 'Restore to before this message' }).click();
    await panel.page.getByRole('menuitem', { name: 'Files only' }).click();
    await panel.asked('confirm');
    await panel.settled();
    assert.equal((await panel.asks('rewind')).length, 0);
  });

  test('cut entries are gone', async () => {
    await panel.events(['a', 'b', 'c'].map((id) => put(user(id, `said ${id}`))));
    await panel.events([{ kind: 'entries_cut', session: SESSION, node: 'root', first: 'b' }]);
    assert.deepEqual(await panel.page.locator('.said').allTextContents(), ['said a']);
  });

  test('the model is picked from a list', async () => {
    await panel.answer('pick_model', {
      ready: true,
      current: 'cheap',
      choices: [{ name: 'cheap', models: [], ready: true }],
      advice: '',
    });
    await panel.page.getByRole('button', { name: 'Model: balanced' }).click();
    assert.equal(
      await panel.page
        .getByRole('menuitemradio', { name: /balanced/ })
        .getAttribute('aria-checked'),
      'true',
    );
    await panel.page.getByRole('menuitemradio', { name: /cheap/ }).click();
    assert.deepEqual(await panel.asked('pick_model'), {
      kind: 'pick_model',
      session: SESSION,
      group: 'cheap',
      node: '',
    });
    await panel.page.getByRole('button', { name: 'Model: cheap' }).click();
    await panel.page.getByRole('menuitem', { name: 'Set Up a Model' }).click();
    await panel.asked('set_up_model');
  });

  test('how much agents may do is chosen from a list, and a plan is carried out', async () => {
    const told = (/** @type {string} */ mode) =>
      panel.events([{ kind: 'session_put', session: info({ mode, messages: 2 }) }]);
    await panel.answer('set_mode', { session: SESSION });
    await panel.answer('send', { session: SESSION });
    await panel.page.getByRole('button', { name: 'Mode: Ask first' }).click();
    await panel.page.getByRole('menuitemradio', { name: /^Plan only/ }).click();
    assert.deepEqual(await panel.asked('set_mode'), {
      kind: 'set_mode',
      session: SESSION,
      mode: 'plan',
    });
    await told('plan');
    await panel.page.getByRole('button', { name: 'Mode: Plan only' }).waitFor();
    await panel.page.getByRole('button', { name: 'Carry Out the Plan' }).click();
    assert.equal((await panel.asked('send')).text, 'Carry out the plan.');
    const modes = (await panel.asks('set_mode')).map((/** @type {{mode: string}} */ it) => it.mode);
    assert.deepEqual(modes, ['plan', 'ask']);
    await told('edits');
    await panel.page.getByRole('button', { name: 'Mode: Accept edits' }).waitFor();
    assert.equal(await panel.page.getByRole('button', { name: 'Carry Out the Plan' }).count(), 0);
    await panel.events([{ kind: 'session_put', session: info({ mode: 'ask', inCopy: true }) }]);
    await panel.page.getByRole('button', { name: 'Mode: Agent' }).click();
    await panel.page.getByRole('menuitemradio', { name: /^Agent/, checked: true }).waitFor();
    await panel.page.keyboard.press('Escape');
  });

  test('the meter says what fills the context and what it cost', async () => {
    await panel.events(conversation());
    const button = panel.page.locator('.meter-button');
    assert.equal(await button.getAttribute('title'), 'Context 23 % full, 21k tokens, cost 0.07');
    await button.click();
    await panel.page
      .locator('.meter-line', { hasText: 'Conversation' })
      .getByText('9,660')
      .waitFor();
    await panel.page
      .locator('.meter-line', { hasText: 'Output tokens' })
      .getByText('2,150')
      .waitFor();
    await panel.page.keyboard.press('Escape');
    await panel.page.locator('.meter-details').waitFor({ state: 'detached' });
  });
});
