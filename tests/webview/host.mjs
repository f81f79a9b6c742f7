// The panel's page in a real Chromium, with a scripted extension on the other side: the document is
// the one the extension makes (same policy), messages are real ones, colours are those of the editor.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import esbuild from 'esbuild';
import { buildClient, PAGE } from '../../scripts/setup/client.mjs';
import { launchBrowser } from '../support/browser.mjs';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** Colours and fonts as the editor gives them to pages, taken from its own themes. */
export const THEMES = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'themes.json'), 'utf8'),
);
/** Told to the browser from outside: the page's own policy lets no script in. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What has not happened by then never will, on however slow a machine. */
const PATIENCE_MS = 120_000;
/**
 * How many milliseconds later than at once the extension answers, the page gets its frames, and how
 * many times slower its processor is: `JARVIS_LATE='{"answer":300,"frame":200,"cpu":6}'` finds a
 * test that reads once what only comes to be. Answers are never there at once.
 */
const LATE = { answer: 20, frame: 0, cpu: 1, ...JSON.parse(process.env.JARVIS_LATE ?? '{}') };
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };

/**
 * @typedef {object} PanelOptions
 * @property {'dark' | 'light' | 'contrast' | 'contrastLight'} [theme]
 * @property {string} [locale]
 * @property {number} [width]
 * @property {number} [height]
 * @property {Record<string, unknown>} [picture] instead of parts of the usual one
 * @property {Record<string, unknown>} [answers] by kind of ask
 * @property {unknown} [state] what the page kept
 * @property {string} [life]
 * @property {boolean} [reducedMotion]
 */

/** A browser and a server for the page's files; close it at the end. */
export async function openBrowser() {
  await buildClient();
  const pageHtml = await documentMaker();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    const name = path.basename(url.pathname);
    if (name === 'favicon.ico') {
      response.writeHead(204).end();
      return;
    }
    if (name === '') {
      const start = JSON.parse(url.searchParams.get('start') ?? '{}');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(pageHtml(origin, start, url.searchParams.get('page') ?? 'panel'));
      return;
    }
    const type = TYPES[/** @type {keyof typeof TYPES} */ (path.extname(name))];
    response.setHeader('content-type', type ?? 'application/octet-stream');
    try {
      response.end(readFileSync(path.join(PAGE, name)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${address.port}`;
  const browser = await launchBrowser();
  return {
    origin,
    browser,
    /** @param {PanelOptions} [options] */
    open: (options) => openPanel(browser, origin, options),
    /** @param {PanelOptions} [options] */
    openOverview: (options) => openOverview(browser, origin, options),
    close: async () => {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The extension's own function that makes the document, with a small stand-in for the editor. */
async function documentMaker() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(ROOT, 'client-vscode', 'src', 'features', 'panel', 'page.ts')],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    plugins: [
      {
        name: 'editor',
        setup(build) {
          build.onResolve({ filter: /^vscode$/ }, () => ({ path: 'vscode', namespace: 'editor' }));
          build.onLoad({ filter: /.*/, namespace: 'editor' }, () => ({
            contents: "exports.Uri = { joinPath: (...parts) => parts.join('/') };",
          }));
        },
      },
    ],
  });
  const module = { exports: {} };
  const { text } = outputFiles[0];
  new Function('module', 'exports', 'require', text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  const { pageHtml } = /** @type {any} */ (module.exports);
  return (/** @type {string} */ origin, /** @type {unknown} */ start, /** @type {string} */ name) =>
    pageHtml({ cspSource: origin, asWebviewUri: (uri) => uri }, origin, start, name);
}

/**
 * The overview of a migration; what it says to the extension is in `asks`.
 * @param {import('playwright-core').Browser} browser
 * @param {string} origin
 * @param {PanelOptions} [options]
 */
async function openOverview(browser, origin, options = {}) {
  const { theme = 'dark', locale = 'en', width = 900, height = 900 } = options;
  const page = await browser.newPage({ viewport: { width, height } });
  const panel = new Panel(page);
  await page.addInitScript(playExtension, {
    ...{ theme: THEMES[theme], answers: {}, state: null, late: LATE },
  });
  await slowDown(page);
  const start = encodeURIComponent(JSON.stringify({ locale }));
  await page.goto(`${origin}/?page=migration&start=${start}`);
  await page.waitForFunction(() => globalThis.extension.asks.length > 0);
  return panel;
}

/** @param {import('playwright-core').Page} page */
async function slowDown(page) {
  if (LATE.cpu === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: LATE.cpu });
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} origin
 * @param {PanelOptions} [options]
 */
async function openPanel(browser, origin, options = {}) {
  const { theme = 'dark', locale = 'en', width = 380, height = 720 } = options;
  const page = await browser.newPage({
    viewport: { width, height },
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
  });
  const panel = new Panel(page);
  const picture = { ...emptyPicture(locale), ...options.picture };
  await page.addInitScript(playExtension, {
    theme: THEMES[theme],
    answers: {
      attach: picture,
      new_session: { ...picture, session: '', events: [] },
      ...options.answers,
    },
    state: options.state ?? null,
    late: LATE,
  });
  await slowDown(page);
  const start = { locale, life: options.life ?? 'running', tab: 'chat' };
  await page.goto(`${origin}/?start=${encodeURIComponent(JSON.stringify(start))}`);
  await page.locator('vscode-tabs').waitFor();
  if ((options.life ?? 'running') === 'running') {
    await page.waitForFunction(() => globalThis.extension.asks.length > 0);
  }
  await panel.settled();
  return panel;
}

export class Panel {
  /** Number of the last batch of events. */
  seq = 0;

  /**
   * What the page complained of.
   * @type {string[]}
   */
  errors = [];

  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.errors.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.errors.push(message.text());
    });
  }

  /**
   * Sends events as the server does.
   * @param {unknown[]} events
   */
  async events(events) {
    this.seq += 1;
    await this.tell({ kind: 'events', events: { seq: this.seq, events } });
  }

  /**
   * Tells the page something, and waits until it has heard it and drawn it.
   * @param {unknown} message of the extension
   */
  async tell(message) {
    await this.page.evaluate(
      (data) =>
        new Promise((resolve) => {
          window.addEventListener('message', resolve, { once: true }); // after the page's own
          window.postMessage(data, '*');
        }),
      message,
    );
    await this.settled();
  }

  /** Waits until what the page asked for is answered (but for what is held back), and all is drawn. */
  async settled() {
    await this.page.evaluate(async () => {
      const { extension } = globalThis;
      const frame = () =>
        new Promise((resolve) => {
          setTimeout(() => requestAnimationFrame(resolve), 0);
        });
      for (let asked = -1; asked < extension.asks.length || extension.open.size > 0; ) {
        asked = extension.asks.length;
        await frame();
        await frame();
      }
    });
  }

  /**
   * Asks until the answer is this one: for what comes to be a while after an action.
   * @template T
   * @param {() => Promise<T>} ask
   * @param {T} expected
   */
  async becomes(ask, expected) {
    for (const began = Date.now(); Date.now() - began < PATIENCE_MS; await sleep(50)) {
      if (isDeepStrictEqual(await ask(), expected)) return;
    }
    assert.deepEqual(await ask(), expected);
  }

  /**
   * Lets time pass in the page: its own timers up to then have run, and what they did is drawn.
   * @param {number} milliseconds
   */
  async passes(milliseconds) {
    await this.page.evaluate(
      (time) => new Promise((resolve) => setTimeout(resolve, time)),
      milliseconds,
    );
    await this.settled();
  }

  /** What the page does only seconds later by itself happens now: a line goes, a deletion is final. */
  async secondsPass() {
    await this.page.evaluate(() => globalThis.extension.secondsPass());
    await this.settled();
  }

  /** The reader goes from the end of the conversation to its beginning. */
  async toBeginning() {
    await this.page.locator('.entries').evaluate((it) => {
      it.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
      it.scrollTop = 0;
    });
  }

  /**
   * Sends events as the server does, faster than they are drawn.
   * @param {unknown[]} events
   */
  async pour(events) {
    this.seq += 1;
    const message = { kind: 'events', events: { seq: this.seq, events } };
    await this.page.evaluate((data) => window.postMessage(data, '*'), message);
  }

  /**
   * What the page asked of a kind.
   * @param {string} [kind]
   * @returns {Promise<any[]>}
   */
  asks(kind) {
    return this.page.evaluate(
      (wanted) =>
        globalThis.extension.asks.filter((ask) => wanted === undefined || ask.kind === wanted),
      kind,
    );
  }

  /**
   * Waits for an ask and returns the last of its kind.
   * @param {string} kind
   * @param {number} [count]
   */
  async asked(kind, count = 1) {
    await this.page.waitForFunction(
      ([wanted, least]) =>
        globalThis.extension.asks.filter((ask) => ask.kind === wanted).length >= Number(least),
      [kind, count],
    );
    return (await this.asks(kind)).at(-1);
  }

  /**
   * How the extension answers from now on.
   * @param {string} kind
   * @param {unknown} answer an object, `{ failed: reason }`, or `{ held: true }` until `release`
   */
  async answer(kind, answer) {
    await this.page.evaluate(
      ([of, what]) => {
        globalThis.extension.answers[String(of)] = what;
      },
      /** @type {const} */ ([kind, answer]),
    );
  }

  /** Gives the usual answers that were held, and from now on at once. */
  async release() {
    await this.page.evaluate(() => {
      const { extension } = globalThis;
      for (const [kind, { held }] of Object.entries(extension.answers)) {
        if (held) delete extension.answers[kind];
      }
      for (const told of extension.held.splice(0)) extension.tell(told);
    });
  }

  /** What the page keeps. */
  state() {
    return this.page.evaluate(() => globalThis.extension.state);
  }

  /** @param {string} name */
  async tab(name) {
    await this.page.locator(`vscode-tab-header[data-tab="${name}"]`).click();
    await this.settled();
  }

  /** What axe finds wrong: the rule and the places. */
  async violations() {
    const before = [...this.errors];
    await this.page.evaluate(AXE);
    const found = await this.page.evaluate(async () => {
      const { violations } = await globalThis.axe.run();
      return violations.map(({ id, nodes }) => {
        const places = nodes.slice(0, 3).map(({ target, failureSummary }) => {
          return `${target.join(' ')} ${failureSummary.split('\n')[1] ?? ''}`;
        });
        return `${id} (${nodes.length}): ${places.join('; ')}`;
      });
    });
    this.errors = before; // axe tries styles of its own, which the policy forbids
    return found;
  }

  /** @param {string} file */
  async picture(file) {
    await this.settled();
    await this.page.screenshot({ path: file });
  }

  async close() {
    await this.page.close();
  }
}

/** Runs in the page before its own script: what the editor gives a page, and an extension that answers. */
function playExtension({ theme, answers, state, late }) {
  const extension = {
    ...{ asks: [], answers, state, held: [] },
    /** Asks whose answers are on their way. */
    open: new Set(),
    tell(told) {
      extension.open.add(told.id);
      setTimeout(() => window.postMessage(told, '*'), late.answer);
    },
  };
  globalThis.extension = extension;
  window.addEventListener('message', ({ data }) => extension.open.delete(data?.id));
  // A machine may rest for seconds between two steps of a test: long timers wait for its word.
  const [begin, end] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
  const long = new Map();
  window.setTimeout = (run, milliseconds = 0, ...given) => {
    const id = begin(milliseconds < 3000 ? run : () => undefined, milliseconds, ...given);
    if (milliseconds >= 3000) long.set(id, run);
    return id;
  };
  window.clearTimeout = (id) => {
    long.delete(id);
    end(id);
  };
  extension.secondsPass = () => {
    const due = [...long.values()];
    long.clear();
    for (const run of due) run();
  };
  if (late.frame > 0) {
    const next = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (run) => setTimeout(() => next(run), late.frame);
  }
  globalThis.acquireVsCodeApi = () => ({
    getState: () => extension.state,
    setState: (next) => {
      extension.state = structuredClone(next);
    },
    postMessage: (message) => {
      const { id, ask } = structuredClone(message);
      extension.asks.push(ask ?? structuredClone(message));
      if (ask === undefined) return; // the overview of a migration: it is told, not answered
      const usual = {
        sessions: { sessions: [], total: 0 },
        complete: { items: [] },
        memories: { items: [] },
        explorer: { files: [], checkpoints: [] },
        settings: { file: '', providers: [], groups: [], template: '', schema: '' },
        confirm: { yes: true },
        send: { session: ask.session },
        rewind: { text: '', files: [], kept: [] },
      };
      const given = extension.answers[ask.kind];
      const answer = typeof given === 'object' ? given : (usual[ask.kind] ?? {});
      if (answer.held) {
        extension.held.push({ kind: 'answered', id, answer: usual[ask.kind] ?? {} });
        return;
      }
      const told =
        typeof answer.failed === 'string'
          ? { kind: 'failed', id, reason: answer.failed }
          : { kind: 'answered', id, answer };
      extension.tell(told);
    },
  });
  document.addEventListener('DOMContentLoaded', () => {
    for (const [name, value] of Object.entries(theme.style)) {
      document.documentElement.style.setProperty(name, value);
    }
    document.body.className = theme.class;
    // What the editor gives every page.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`@layer vscode-default {
      body { color: var(--vscode-editor-foreground); margin: 0; padding: 0 20px; }
      a, a code { color: var(--vscode-textLink-foreground); }
      code { color: var(--vscode-textPreformat-foreground); background-color: var(--vscode-textPreformat-background); padding: 1px 3px; border-radius: 4px; }
      pre code { padding: 0; }
      blockquote { background: var(--vscode-textBlockQuote-background); border-color: var(--vscode-textBlockQuote-border); }
      kbd { background-color: var(--vscode-keybindingLabel-background); color: var(--vscode-keybindingLabel-foreground); vertical-align: middle; padding: 1px 3px; }
    }`);
    document.adoptedStyleSheets = [sheet];
    // The view's own background, which the editor paints behind the page.
    document.documentElement.style.background = theme.style['--vscode-sideBar-background'];
  });
}

/** @param {string} locale */
export function emptyPicture(locale = 'en') {
  return {
    seq: 0,
    session: '',
    events: [],
    sessions: [],
    models: {
      ready: true,
      current: 'balanced',
      choices: [
        { name: 'balanced', models: ['house/large'], ready: true },
        { name: 'cheap', models: ['house/small', 'local/tiny'], ready: true },
        { name: 'vision', models: ['far/eyes'], ready: false },
      ],
      advice: '',
    },
    commands: [
      { name: '/scan', title: 'Scan the workspace', argument: '', needsModel: false },
      { name: '/explain', title: 'Explain a rule', argument: 'RULE', needsModel: false },
      { name: '/plan', title: 'Make a plan', argument: '', needsModel: true },
    ],
    suggestions: [
      {
        title: "Explain and fix src/store.c:42: 'item' is freed twice.",
        text: 'Explain finding C12 (double-free, src/store.c:42).',
      },
    ],
    folders: ['ws'],
    trusted: true,
    locale,
  };
}
