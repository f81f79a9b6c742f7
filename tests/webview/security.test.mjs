// Whatever models, tools, files and findings say, nothing of it runs in the page or leaves it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openBrowser } from './host.mjs';
import { answer, EDIT, info, node, put, putNode, SESSION, tool, user } from './sample.mjs';

const RUN = 'globalThis.hacked=(globalThis.hacked||0)+1';
/** What tries to run `RUN`, in as many ways as browsers know. */
const PAYLOADS = [
  `<script>${RUN}</script>`,
  `<ScRiPt >${RUN}</sCrIpT>`,
  `<script src="data:text/javascript,${RUN}"></script>`,
  `<script type="module">${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src=x onerror=${RUN}//`,
  `<img/src="x"/onerror="${RUN}">`,
  `<image src=x onerror="${RUN}">`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${RUN}"><text y=20>x</text></a></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.${RUN}</script>"></iframe></foreignObject></svg>`,
  `<math><mtext></form><form><mglyph><style></math><img src=x onerror="${RUN}">`,
  `<math href="javascript:${RUN}">x</math>`,
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<body onload="${RUN}">`,
  `<details open ontoggle="${RUN}"><summary>x</summary></details>`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src=x onerror="${RUN}"></audio>`,
  `<input autofocus onfocus="${RUN}">`,
  `<select autofocus onfocus="${RUN}"></select>`,
  `<textarea autofocus onfocus="${RUN}"></textarea>`,
  `<marquee onstart="${RUN}">x</marquee>`,
  `<form action="javascript:${RUN}"><button>x</button></form>`,
  `<button formaction="javascript:${RUN}">x</button>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<a href="JaVaScRiPt:${RUN}">x</a>`,
  `<a href="java&#10;script:${RUN}">x</a>`,
  `<a href="&#106;avascript:${RUN}">x</a>`,
  `<a href=" javascript:${RUN}">x</a>`,
  `<a href="\u0001javascript:${RUN}">x</a>`,
  `<a href="data:text/html,<script>${RUN}</script>">x</a>`,
  `<a href="vbscript:${RUN}">x</a>`,
  `<a href="command:workbench.action.quit">x</a>`,
  `[x](javascript:${RUN})`,
  `[x](JAVASCRIPT:${RUN})`,
  `[x](javascript&colon;${RUN})`,
  `[x](data:text/html;base64,PHNjcmlwdD4=)`,
  `[x](command:workbench.action.quit)`,
  `[x](vscode://file/etc/passwd)`,
  `![x](javascript:${RUN})`,
  `![x](http://127.0.0.1:9/pixel.png)`,
  `![x" onerror="${RUN}](x)`,
  `[x](https://a.example" onmouseover="${RUN})`,
  `[x](https://a.example/ '" onmouseover="${RUN}')`,
  `<javascript:${RUN}>`,
  `[x]: javascript:${RUN}\n\n[x]`,
  `\`\`\`html"><img src=x onerror="${RUN}">\nx\n\`\`\``,
  `\`\`\`c\n</code></pre><img src=x onerror="${RUN}">\n\`\`\``,
  `\`</code><img src=x onerror="${RUN}">\``,
  `| <img src=x onerror="${RUN}"> |\n| --- |\n| x |`,
  `# <img src=x onerror="${RUN}">`,
  `<style>@import 'http://127.0.0.1:9/x.css';</style>`,
  `<link rel=stylesheet href="http://127.0.0.1:9/x.css">`,
  `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`,
  `<base href="http://127.0.0.1:9/">`,
  `<p style="background:url(http://127.0.0.1:9/x)">x</p>`,
  `<div id="app"></div><a id=extension name=extension>x</a>`,
  `<template><img src=x onerror="${RUN}"></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<xmp><p title="</xmp><img src=x onerror=${RUN}>">`,
  `--><img src=x onerror="${RUN}"><!--`,
  `<![CDATA[<img src=x onerror="${RUN}">]]>`,
  `<form id=x></form><button form=x formaction="javascript:${RUN}">x</button>`,
  `\${${RUN}} {{${RUN}}} <%= ${RUN} %>`,
];

describe('what comes from outside', () => {
  let host;
  before(async () => {
    host = await openBrowser();
  });
  after(() => host.close());

  test('there are enough tries', () => assert.ok(PAYLOADS.length >= 60, String(PAYLOADS.length)));

  test('runs nowhere in the page', async () => {
    const explorer = {
      files: PAYLOADS.map((path) => ({
        path,
        root: 0,
        read: 1,
        change: 'modify',
        added: 1,
        removed: 0,
        nodes: [],
        entries: [],
      })),
      checkpoints: PAYLOADS.map((title, index) => ({
        id: `c${index}`,
        entry: 'u',
        title,
        time: 1,
      })),
    };
    const memories = {
      items: PAYLOADS.map((content, index) => ({
        memory: 'project',
        id: `m${index}`,
        content,
        tags: [content],
        updated: 1,
        path: '',
      })),
    };
    const settings = {
      file: PAYLOADS[4],
      template: '',
      providers: PAYLOADS.map((name) => ({
        name,
        type: name,
        base: name,
        variables: [name],
        ready: false,
      })),
      groups: [
        {
          title: PAYLOADS[4],
          lines: PAYLOADS.map((name) => ({ name, value: name, detail: name, level: 'error' })),
        },
      ],
    };
    const sessions = PAYLOADS.map((title, index) => info({ id: `s${index}`, title }));
    const picture = {
      session: SESSION,
      events: [
        { kind: 'session_put', session: info({ title: PAYLOADS[4] }) },
        putNode(node('root')),
      ],
      sessions,
      commands: PAYLOADS.map((name) => ({ name, title: name, argument: name, needsModel: false })),
      suggestions: PAYLOADS.map((text) => ({ title: text, text })),
    };
    const panel = await host.open({
      picture,
      answers: { explorer, memories, settings, sessions: { sessions, total: 1 } },
      height: 2400,
    });
    /** @type {string[]} */
    const elsewhere = [];
    panel.page.on('request', (request) => {
      if (!request.url().startsWith(host.origin) && !request.url().startsWith('data:')) {
        elsewhere.push(request.url());
      }
    });
    await panel.settled();
    let links = 0;
    for (const [index, text] of PAYLOADS.entries()) {
      const edit = {
        ...EDIT,
        path: text,
        hunks: [{ ...EDIT.hunks[0], newLines: [text], before: [text] }],
      };
      await panel.events([
        put(user(`u${index}`, text)),
        put(answer(`a${index}`, text, { thinking: text, model: text })),
        put(answer(`b${index}`, text, { streaming: true })),
        put(
          tool(`t${index}`, text, {
            arguments: JSON.stringify({ text }),
            output: text,
            reason: text,
            isolation: text,
            edits: [edit],
            state: 'failed',
          }),
        ),
        put(
          tool(`q${index}`, text, {
            arguments: text,
            state: 'asked',
            asked: [{ kind: 'execute', target: text }],
            reason: text,
          }),
        ),
        put({ kind: 'notice', id: `n${index}`, level: 'error', text }),
        put({ kind: 'question', id: `w${index}`, text, choices: [text] }),
        put({ kind: 'plan', id: `p${index}`, steps: [{ text, state: 'active' }] }),
        putNode(
          node(`n${index}`, {
            parent: 'root',
            title: text,
            activity: text,
            error: text,
            group: text,
          }),
        ),
      ]);
      assert.ok((await panel.page.locator('.long-list > .row').count()) > 3, 'rows are drawn');
      // Every link that is left is followed; none may do more than ask the extension.
      links += await panel.page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) {
          details.open = true;
        }
        for (const element of document.querySelectorAll('.entries a, .entries img')) {
          element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        }
        const found = document.querySelectorAll('.entries a');
        for (const link of found) link.click();
        return found.length;
      });
    }
    assert.ok(links > 0, 'harmless links are left');
    for (const tab of ['agents', 'explorer', 'memory', 'settings', 'chat']) {
      await panel.tab(tab);
      await panel.settled();
    }
    await panel.page.locator('[data-part=sessions]').click();
    await panel.passes(300);

    assert.equal(await panel.page.evaluate(() => globalThis.hacked), undefined);
    assert.deepEqual(elsewhere, []);
    const opened = [...(await panel.asks('open_link')).map(({ url }) => url)];
    for (const url of opened) assert.match(url, /^https?:/);
    assert.equal(
      (await panel.asks('open_file')).filter(({ path }) => /script:|command:|data:/i.test(path))
        .length,
      0,
    );
    const forbidden = await panel.page.evaluate(
      () =>
        document.querySelectorAll(
          '.entries :is(script, style, iframe, object, embed, form[action], [onerror], [style*=url], img:not(.picture), svg, base, meta, link)',
        ).length,
    );
    assert.equal(forbidden, 0);
    assert.deepEqual(
      panel.errors.filter((it) => !/404|Failed to load/.test(it)),
      [],
    );
    await panel.close();
  });

  test('messages of another origin are not taken', async () => {
    const panel = await host.open({
      picture: { session: SESSION, events: [putNode(node('root'))] },
    });
    const told = (/** @type {string} */ text) => ({
      kind: 'events',
      events: { seq: panel.seq + 1, events: [put(user('forged', text))] },
    });
    await send(panel, told('Forged'), 'https://evil.example');
    await send(panel, told('Forged'), 'null');
    await panel.events([put(user('genuine', 'Genuine'))]);
    await panel.page.getByText('Genuine').waitFor();
    assert.equal(await panel.page.getByText('Forged').count(), 0);
    await panel.close();

    const overview = await host.openOverview();
    const migration = { folder: 'file:///p', revision: 1, trusted: false, functions: [] };
    await send(overview, { kind: 'migration', migration }, 'https://evil.example');
    await send(overview, { kind: 'migration', migration }, 'null');
    assert.match(await overview.page.innerText('body'), /Loading/);
    await send(overview, { kind: 'migration', migration });
    await overview.page.getByText('This workspace is not trusted').waitFor();
    await overview.close();
  });

  test('pictures that are none are not shown', async () => {
    const images = [
      { mediaType: 'image/svg+xml', base64: 'PHN2Zy8+' },
      { mediaType: 'image/png', base64: '"><script>' },
      { mediaType: 'text/html', base64: 'PGI+' },
    ];
    const panel = await host.open({
      picture: { session: SESSION, events: [put(user('u', 'x', { images }))] },
    });
    await panel.page.getByText('Image cannot be displayed').first().waitFor();
    assert.equal(await panel.page.locator('img').count(), 0);
    await panel.close();
  });

  test('messages that are none are ignored', async () => {
    const panel = await host.open();
    for (const message of [
      null,
      7,
      'x',
      {},
      { kind: 3 },
      { kind: 'answered', id: 999, answer: {} },
      { kind: 'failed', id: -1 },
      { kind: '__proto__' },
    ]) {
      await panel.tell(message);
    }
    await panel.events([{ kind: 'session_put', session: info() }]);
    assert.deepEqual(panel.errors, []);
    await panel.close();
  });

  test('the policy of the document lets no inline script or style in', async () => {
    const panel = await host.open();
    const policy = await panel.page
      .locator('meta[http-equiv=Content-Security-Policy]')
      .getAttribute('content');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    await panel.page.evaluate(async (run) => {
      const script = document.createElement('script');
      script.textContent = run;
      document.body.append(script);
      document.body.insertAdjacentHTML(
        'beforeend',
        `<p id="styled" style="color: rgb(1, 2, 3)">x</p><img src=x onerror="${run}">`,
      );
      const picture = document.body.lastElementChild;
      await new Promise((resolve) => picture.addEventListener('error', resolve));
    }, RUN);
    assert.equal(await panel.page.evaluate(() => globalThis.hacked), undefined);
    const color = await panel.page.locator('#styled').evaluate((it) => getComputedStyle(it).color);
    assert.notEqual(color, 'rgb(1, 2, 3)');
    await panel.close();
  });
});

/**
 * Lets a message come from an origin; from the page's own, as the editor's do, without one.
 * @param {import('./host.mjs').Panel} panel
 * @param {unknown} data
 * @param {string} [origin]
 */
async function send(panel, data, origin) {
  await panel.page.evaluate(
    (message) => {
      const from = message.origin ?? window.origin;
      window.dispatchEvent(new MessageEvent('message', { data: message.data, origin: from }));
    },
    { data, origin },
  );
}
