// A real VS Code workbench for a test: a workspace on disk, the editor in a browser, and the words a
// test says to it (open, type, run a command). Everything is in one temporary folder that goes
// when the workbench is closed; set JARVIS_E2E_KEEP to a folder to find its logs and a picture there.
// Where `npm test` runs it, the editor's server and the browser are shared: see `shared-host.mjs`.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { layOutExtension } from '../../scripts/setup/development-extension.mjs';
import { installExtension, startHost } from '../../scripts/setup/vscode-run.mjs';
import { launchBrowser } from '../support/browser.mjs';
import { speak } from './language.mjs';
import { endWindows, joinHost } from './shared-host.mjs';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
const ID = 'jarvis-ls.jarvis-ls';
/** What has not happened by then never will, on however slow a machine. */
export const PATIENCE_MS = 120_000;
/** The user's toolchain: rustup looks for it in the home folder, and the workbench has its own. */
export const TOOLCHAIN = {
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(homedir(), '.rustup'),
  CARGO_HOME: process.env.CARGO_HOME ?? path.join(homedir(), '.cargo'),
};

const SETTINGS = {
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'files.autoSave': 'off',
  'window.commandCenter': false,
  'chat.commandCenter.enabled': false,
  'editor.accessibilitySupport': 'off',
  'editor.minimap.enabled': false,
  'workbench.editor.enablePreview': false,
  'files.simpleDialog.enable': true,
};

/**
 * @typedef {object} Options
 * @property {Record<string, string>} [files] of the workspace, by path
 * @property {string[]} [folders] of a workspace with several; `files` then lie below them
 * @property {Record<string, unknown>} [settings]
 * @property {Record<string, string>} [env]
 * @property {string} [extension] its folder; else what JARVIS_E2E_EXTENSION names (an unpacked
 *   .vsix), else the checkout's
 * @property {string} [vsix] a packaged extension, to be installed instead
 * @property {string} [installed] folder of another maker's extension that is there as well
 * @property {string} [locale] for example `zh-cn`
 * @property {[string, string][]} [payload] more for the workbench's own payload
 * @property {(page: import('playwright-core').Page) => Promise<void>} [beforeLoad]
 */

/**
 * Opens a workbench on a new workspace.
 * @param {Options} options
 */
export async function openWorkbench(options = {}) {
  const base = mkdtempSync(path.join(tmpdir(), 'jls-'));
  const folder = path.join(base, 'ws');
  writeFiles(folder, options.files ?? {});
  const opened = options.folders ? workspaceFile(base, options.folders) : folder;
  const extension = options.vsix ? undefined : extensionFolder(base, options);
  const host = await hostFor(base, options);
  const browser = await launchBrowser();
  const page = await browser.newPage({
    viewport: { width: 1400, height: 900 },
    // Packing the workbench takes the server longer than sending it through no network.
    extraHTTPHeaders: { 'accept-encoding': 'identity' },
  });
  page.setDefaultTimeout(PATIENCE_MS);
  const end = async () => {
    await browser.close();
    await host.leave();
  };
  const workbench = new Workbench({ page, base, folder, logs: new Logs(host.folder), end });
  try {
    await options.beforeLoad?.(page);
    await load(page, address(host.address, opened, extension, options), options.folders);
  } catch (error) {
    await workbench.close();
    throw error;
  }
  return workbench;
}

/**
 * The server that shows a workbench: the shared one when it will do, else one of its own.
 * @param {string} base
 * @param {Options} options
 * @returns {Promise<{address: string, folder: string, leave: () => Promise<void>}>}
 */
async function hostFor(base, options) {
  const settings = { ...SETTINGS, ...options.settings };
  const shared = options.installed ? undefined : joinHost(options, settings, base);
  if (shared) return { ...shared, leave: () => endWindows(shared) };
  if (options.locale) speak(options.locale, path.join(base, 'data'));
  if (options.installed) {
    cpSync(options.installed, path.join(base, 'extensions', 'other-1.0.0'), { recursive: true });
  }
  if (options.vsix) await installExtension(base, options.vsix, environment(base));
  const env = { ...environment(base), ...options.env };
  const host = await startHost({ folder: base, settings, env });
  return { address: host.address, folder: base, leave: host.stop };
}

/**
 * Loads the workbench. A page that stays empty (seen once, on a slow machine, and not understood) is
 * loaded again, as a person would, and what it printed is told. So is a workspace whose folders are
 * not there: in a browser VS Code begins with none and reads the file of the workspace when the
 * connection stands, and now and then it stays without.
 * @param {import('playwright-core').Page} page
 * @param {string} url
 * @param {string[]} folders of the workspace, when it has several
 */
async function load(page, url, folders = []) {
  /** @type {string[]} */
  const told = [];
  page.on('console', (line) => line.type() === 'error' && told.push(line.text()));
  page.on('pageerror', (error) => told.push(String(error)));
  page.on('requestfailed', (request) => told.push(`${request.url()} failed`));
  await page.goto(url);
  const statusBar = page.locator('.monaco-workbench .part.statusbar');
  for (let tries = 2; tries >= 0; tries--) {
    try {
      await statusBar.waitFor({ timeout: PATIENCE_MS / 2 });
      for (const hasText of folders) {
        const row = page.locator('.explorer-folders-view .monaco-list-row', { hasText });
        await row.first().waitFor({ timeout: PATIENCE_MS / 6 });
      }
      return;
    } catch (error) {
      console.error(`the workbench did not show itself: ${told.splice(0).join('\n') || 'no word'}`);
      if (tries === 0) throw error;
    }
    await page.reload();
  }
}

/**
 * @param {string} base
 * @param {Options} options
 */
function extensionFolder(base, { extension }) {
  const other = extension ?? process.env.JARVIS_E2E_EXTENSION;
  return other ?? layOutExtension(path.join(base, 'extension'));
}

/**
 * @param {string} authority
 * @param {string} opened
 * @param {string | undefined} extension
 * @param {Options} options
 */
function address(authority, opened, extension, { payload = [] }) {
  const own = ['extensionDevelopmentPath', `vscode-remote://${authority}${extension}`];
  const kind = opened.endsWith('.code-workspace') ? 'workspace' : 'folder';
  const query = new URLSearchParams({ [kind]: opened });
  query.set(
    'payload',
    JSON.stringify([
      ...(extension ? [own] : []),
      ...payload.map(([name, value]) => [name, value.replace('AUTHORITY', authority)]),
    ]),
  );
  return `http://${authority}/?${query}`;
}

/**
 * @param {string} folder
 * @param {Record<string, string>} files
 */
export function writeFiles(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/**
 * The editor asks a login shell for the user's environment: this one answers with ours. The address
 * of the marketplace is empty, so that nothing is asked of the network.
 * @param {string} base
 */
export function environment(base) {
  const shell = path.join(base, 'shell');
  writeFileSync(shell, '#!/bin/sh\nfor command; do :; done\nexec /bin/sh -c "$command"\n');
  chmodSync(shell, 0o755);
  return { HOME: base, SHELL: shell, EXTENSIONS_GALLERY: '{"serviceUrl":""}' };
}

/**
 * @param {string} base
 * @param {string[]} folders
 */
function workspaceFile(base, folders) {
  const file = path.join(base, 'all.code-workspace');
  const list = folders.map((name) => ({ path: path.join('ws', name) }));
  writeFileSync(file, JSON.stringify({ folders: list }));
  return file;
}

/**
 * Waits until something holds and returns it.
 * @template T
 * @param {string} what named when it never does
 * @param {() => T | Promise<T>} ask
 * @param {number} [patience] milliseconds
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, ask, patience = PATIENCE_MS) {
  for (const began = Date.now(); Date.now() - began < patience; await sleep(50)) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new Error(`never happened: ${what}`);
}

/**
 * Acts until something is there, or has gone.
 * @param {string} what named when it never is
 * @param {() => Promise<void>} act
 * @param {import('playwright-core').Locator} shown
 * @param {'visible' | 'hidden'} state
 */
async function acted(what, act, shown, state) {
  const there = (/** @type {number} */ timeout) =>
    shown.waitFor({ state, timeout }).then(
      () => true,
      () => false,
    );
  await until(what, async () => {
    // What has acted meanwhile takes no more: its time limit is no fault, what counts is looked at.
    await act().catch((error) => {
      if (error.name !== 'TimeoutError') throw error;
    });
    return there(5000);
  });
}

/**
 * Removes a folder. A process of it that sees within some seconds that its server is gone may
 * write until then: each try looks anew at what there is.
 * @param {string} folder
 */
export async function removed(folder) {
  await until(`${folder} is gone`, () => {
    try {
      rmSync(folder, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOTEMPTY') throw error;
      return false;
    }
  });
}

/**
 * What axe finds wrong with a page that has loaded it: the rule and the places.
 * @param {import('playwright-core').Page | import('playwright-core').Frame} page
 * @returns {Promise<string[]>}
 */
export function violations(page) {
  return page.evaluate(async () => {
    // @ts-expect-error the page has it, this file has not
    const { violations: found } = await globalThis.axe.run();
    return found.map(
      (/** @type {{id: string, nodes: {target: string[]}[]}} */ { id, nodes }) =>
        `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  });
}

/** What the windows of a server have logged since now. */
class Logs {
  /** @param {string} host the folder of the server */
  constructor(host) {
    this.folder = path.join(host, 'data', 'logs');
    this.before = new Set(this.files());
  }

  /** Paths in the folder of all logs of the extension, in order. */
  files() {
    if (!existsSync(this.folder)) return [];
    const all = readdirSync(this.folder, { recursive: true, encoding: 'utf8' });
    return all.filter((name) => path.basename(name) === 'Jarvis.log').sort();
  }

  read() {
    return this.files()
      .filter((name) => !this.before.has(name))
      .map((name) => readFileSync(path.join(this.folder, name), 'utf8'))
      .join('');
  }
}

export class Workbench {
  /**
   * @param {object} parts
   * @param {import('playwright-core').Page} parts.page
   * @param {string} parts.base
   * @param {string} parts.folder of the workspace
   * @param {Logs} parts.logs
   * @param {() => Promise<void>} parts.end
   */
  constructor({ page, base, folder, logs, end }) {
    this.page = page;
    this.base = base;
    this.folder = folder;
    this.logs = logs;
    this.end = end;
  }

  /** Ends browser and editor and takes the temporary folder away. */
  async close() {
    const keep = process.env.JARVIS_E2E_KEEP;
    if (keep) {
      const place = path.join(keep, path.basename(this.base));
      await this.page.screenshot({ path: path.join(place, 'last.png') }).catch(() => undefined);
      cpSync(this.logs.folder, path.join(place, 'logs'), { recursive: true });
    }
    await this.end();
    await removed(this.base);
  }

  /** @param {string} name of a file of the workspace */
  read(name) {
    return readFileSync(path.join(this.folder, name), 'utf8');
  }

  /** Everything the extension's output channel has written. */
  log() {
    return this.logs.read();
  }

  /**
   * Waits until the server has started so many times and tells its process id.
   * @param {number} [times]
   */
  async serverStarted(times = 1) {
    const starts = () => [...this.log().matchAll(/Server started, process (\d+)/g)];
    const list = await until(`server start ${times}`, () => {
      const all = starts();
      return all.length >= times && all;
    });
    return Number(list.at(-1)?.[1]);
  }

  get quickInput() {
    return this.page.locator('.quick-input-widget:visible');
  }

  /** @param {string} text what the quick input's rows are filtered by and what one must contain */
  async pick(text) {
    await this.take(this.quickInput.locator('.monaco-list-row', { hasText: text }).first());
  }

  /**
   * Clicks a row of the quick input until it has gone: one that is drawn anew between pressing and
   * letting go is not clicked, and what is asked next is answered in another input.
   * @param {import('playwright-core').Locator} row
   */
  async take(row) {
    await row.waitFor();
    await acted('the row was taken', () => row.click({ timeout: 5000 }), row, 'hidden');
  }

  /** @param {string} text */
  async answer(text) {
    await this.quickInput.locator('input.input').fill(text);
    await this.confirm(text);
  }

  /**
   * Enter, until the quick input has closed: while it checks or reads something it takes none.
   * @param {string} [text] what is written in it, again where a dialog for files, which first reads
   *   its folder, has put its own answer there since
   */
  async confirm(text) {
    const input = this.quickInput.locator('input.input');
    const closed = () => this.quickInput.waitFor({ state: 'hidden', timeout: 5000 });
    const enter = async () => {
      if (text !== undefined && (await input.inputValue({ timeout: 5000 })) !== text)
        await input.fill(text, { timeout: 5000 });
      await input.press('Enter', { timeout: 5000 });
    };
    await until('the answer was taken', async () => {
      if (await input.isVisible()) await enter().catch(closed);
      return closed().then(
        () => true,
        () => false,
      );
    });
  }

  /**
   * Opens the quick input by a key; one that is just closing may swallow the first try.
   * @param {string} key
   * @param {string} start what the input then begins with
   */
  async openQuickInput(key, start) {
    const input = this.quickInput.locator('input.input');
    await until(`quick input by ${key}`, async () => {
      await this.page.keyboard.press(key);
      await sleep(100);
      // One that was closing is gone before it is read: that is no answer, and tried again.
      const value = await input.inputValue({ timeout: 3000 }).catch(() => undefined);
      return value?.startsWith(start) && (await input.isVisible());
    });
    return input;
  }

  /**
   * Asks the quick input for a row until it is there: a list that was made before the extension
   * was there does not grow, and what is typed into an input that is just closing is lost.
   * @param {import('playwright-core').Locator} row
   * @param {string} key
   * @param {string} start what the input begins with
   * @param {string} text what is typed after it
   */
  async listed(row, key, start, text) {
    let timeout = 1500;
    await until(`${text} in the quick input`, async () => {
      const input = await this.openQuickInput(key, start);
      timeout *= 2;
      const typed = input.fill(start + text, { timeout }).then(() => row.waitFor({ timeout }));
      const found = await typed.then(
        () => true,
        () => false,
      );
      if (!found) await this.page.keyboard.press('Escape');
      return found;
    });
  }

  /** @param {string} label as the palette shows it, for example `Jarvis: Scan Workspace` */
  async command(label) {
    const name = this.page.locator('.label-name').getByText(label, { exact: true });
    const row = this.quickInput.locator('.monaco-list-row').filter({ has: name }).first();
    await this.listed(row, 'F1', '>', label);
    await this.take(row);
  }

  /**
   * Waits until words lead to a command: until it is the first that the palette lists for them.
   * @param {string} words
   * @param {string} label
   */
  async firstCommand(words, label) {
    const input = await this.openQuickInput('F1', '>');
    await input.fill(`>${words}`);
    const first = this.quickInput.locator('.monaco-list-row .label-name').first();
    await until(`'${words}' leads to '${label}'`, async () => (await first.innerText()) === label);
    await this.page.keyboard.press('Escape');
  }

  /** @param {string} name of a file of the workspace */
  async open(name) {
    const base = path.basename(name);
    const row = this.quickInput.locator('.monaco-list-row', { hasText: base }).first();
    await this.listed(row, 'Control+P', '', name);
    await this.page.keyboard.press('Enter');
    await this.page.locator(`.tab.active[data-resource-name="${base}"]`).waitFor();
    await this.page.locator('.editor-instance .view-line').first().waitFor();
    await this.page.locator('.editor-instance .monaco-editor').first().click();
  }

  /**
   * @param {number} line
   * @param {number} [column]
   */
  async goTo(line, column = 1) {
    await this.openQuickInput('Control+G', ':');
    await this.answer(`:${line}:${column}`);
    const place = `Ln ${line}, Col ${column}`;
    await this.page.locator('.statusbar-item', { hasText: place }).waitFor();
  }

  /**
   * Chooses a quick fix at the cursor from the keyboard.
   * @param {RegExp} title
   */
  async quickFix(title) {
    const rows = this.page.locator('.action-widget .monaco-list-row');
    const wanted = rows.filter({ hasText: title }).first();
    const open = async () => {
      await this.page.keyboard.press('Escape');
      await this.page.keyboard.press('Control+.');
    };
    await acted('the fixes are listed', open, wanted, 'visible');
    const focused = this.page.locator('.action-widget .monaco-list-row.focused');
    let at = await focused.innerText();
    for (let steps = await rows.count(); !title.test(at); steps--) {
      if (steps === 0) throw new Error(`not reached from the keyboard: ${title}`);
      const before = at;
      await this.page.keyboard.press('ArrowDown');
      await until('the next fix has the focus', async () => {
        at = await focused.innerText();
        return at !== before;
      });
    }
    const take = () => this.page.keyboard.press('Enter');
    await acted('the fix was taken', take, wanted, 'hidden');
  }

  /** Saves what is not saved yet. */
  async save() {
    await this.page.locator('.tab.active.dirty').waitFor();
    await this.page.keyboard.press('Control+S');
    await this.page.locator('.tab.active:not(.dirty)').waitFor();
  }

  /** Every squiggle in the editor, whatever its severity. */
  get squiggles() {
    const kinds = ['error', 'warning', 'info'].map((kind) => `.editor-instance .squiggly-${kind}`);
    return this.page.locator(kinds.join(', '));
  }

  /** @param {number} count of squiggles that must be there in the end */
  async squigglesBecome(count) {
    await until(`${count} squiggles`, async () => (await this.squiggles.count()) === count);
  }

  /** @param {string | RegExp} text */
  toast(text) {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /**
   * Waits for a message; one that never comes is told with what was there in its place.
   * @param {string} text
   * @param {number} [timeout] milliseconds
   */
  async told(text, timeout = PATIENCE_MS) {
    await this.toast(text)
      .first()
      .waitFor({ timeout })
      .catch(async (error) => {
        const toasts = await this.page.locator('.notification-toast').allInnerTexts();
        throw new Error(`${error.message}\nMessages: ${toasts.join(' | ')}\n${this.log()}`);
      });
  }

  /**
   * Waits for a message where all of them are listed: one that comes soon after three others is not
   * shown by itself.
   * @param {string} text
   */
  async noted(text) {
    const bell = this.page.locator('[id="status.notifications"]');
    const all = this.page.locator('.notifications-center');
    await this.click(bell, all);
    await all.getByText(text).first().waitFor();
    await acted(
      'the list of messages was closed',
      () => bell.click({ timeout: 5000 }),
      all,
      'hidden',
    );
  }

  /** The item of the extension in the status bar. */
  get status() {
    return this.page.locator(`[id="${ID}.jarvisLs.status"]`);
  }

  /** @param {string | RegExp} text of a row of the Problems panel */
  problem(text) {
    return this.page.locator('.markers-panel .monaco-list-row', { hasText: text });
  }

  async openProblems() {
    await this.page.keyboard.press('Control+Shift+M');
    await this.page.locator('.markers-panel').waitFor();
  }

  /** The findings view. */
  get findings() {
    return this.page.locator('[id="workbench.view.extension.jarvisLs"]');
  }

  /** @param {string | RegExp} text of a row of the findings view */
  finding(text) {
    return this.findings.locator('.monaco-list-row', { hasText: text });
  }

  async openFindings() {
    await this.command('Jarvis: Show Findings');
    await this.findings.waitFor();
  }

  /** @param {'Severity' | 'Category' | 'File' | 'Rule'} name */
  async groupBy(name) {
    await this.command('Jarvis: Group Findings By…');
    await this.pick(name);
  }

  /**
   * Clicks a row of a list until something is there: one that is drawn anew between pressing and
   * letting go is clicked again, as anybody would.
   * @param {import('playwright-core').Locator} row
   * @param {import('playwright-core').Locator} shown
   * @param {Parameters<import('playwright-core').Locator['click']>[0]} [how]
   */
  async click(row, shown, how = {}) {
    const click = () => row.click({ timeout: 5000, ...how });
    await acted(`the click on ${row} was taken`, click, shown, 'visible').catch(async (error) => {
      const rows = await this.page.locator('.sidebar .monaco-list-row').allInnerTexts();
      throw new Error(`${error.message}; the side bar has: ${rows.join(' | ')}`);
    });
  }

  /** @param {string} name of a file whose tab is in front */
  tab(name) {
    return this.page.locator(`.tab.active[data-resource-name="${name}"]`);
  }

  /**
   * Waits until a screen reader is told this of a row, and returns it: a row that is there may still
   * be drawn anew.
   * @param {import('playwright-core').Locator} row
   * @param {RegExp} label
   */
  async labelBecomes(row, label) {
    let told = '';
    await until(`a row is called ${label}`, async () => {
      const name = await row.getAttribute('aria-label', { timeout: 5000 }).catch(() => null);
      told = name ?? '';
      return label.test(told);
    }).catch(async (error) => {
      const rows = await this.page.locator('.sidebar .monaco-list-row').allInnerTexts();
      throw new Error(`${error.message}; it is called: ${told}; rows: ${rows.join(' | ')}`);
    });
    return told;
  }

  /**
   * Chooses from the context menu of a row. A menu ignores clicks in its first moments, and closes
   * by itself when something else takes the focus: so what counts is that the item took the click.
   * @param {import('playwright-core').Locator} row
   * @param {string} name
   */
  async menu(row, name) {
    const item = this.page.getByRole('menuitem', { name, exact: true });
    await until(`the click on ${name} was taken`, async () => {
      if (!(await item.isVisible())) await row.click({ button: 'right' });
      return this.isTaken(item).catch(() => false); // one that is closing is gone before
    });
    await item.waitFor({ state: 'hidden' });
  }

  /**
   * Clicks an item of a menu and tells whether it acts on that: then the menu closes at once.
   * @param {import('playwright-core').Locator} item
   */
  async isTaken(item) {
    const timeout = 2000;
    await item.waitFor({ timeout });
    await this.page.evaluate(() => {
      // @ts-expect-error a name of ours in the page
      window.jarvisTaken = new Promise((resolve) => {
        const heard = (/** @type {Event} */ event) => {
          // The item acts in a turn of its own, which follows this one, and closes the menu.
          const target = /** @type {Element} */ (event.target);
          setTimeout(() => setTimeout(() => resolve(!target.checkVisibility())));
        };
        document.addEventListener('mouseup', heard, { capture: true, once: true });
      });
    });
    await item.click({ timeout });
    // @ts-expect-error see above
    return this.page.evaluate(() => window.jarvisTaken);
  }

  /** A page shown in a webview, for example a rendered rule. */
  get webview() {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  /** @param {string} file where the picture goes */
  async picture(file) {
    await sleep(700); // what slides in has come to rest
    await this.page.screenshot({ path: file });
  }
}
