// Files of tests that drive a browser, and run only when what they depend on has changed since they
// passed. `tests/stamps/browser.json` has for each the digest of all that: the page, its helpers and
// libraries, and for tests of the workbench the extension and the language server as well.
// `scripts/test.mjs` asks, leaves such files out and names them; `.ci/run --full` runs every file.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../scripts/process.mjs';
import { digestOf } from './stamps.mjs';

const FILE = path.join(ROOT, 'tests', 'stamps', 'browser.json');
const PAGE = [
  ...['client-vscode', 'media', 'l10n', 'package.json', 'package.nls.json'],
  ...['package.nls.zh-cn.json', 'package-lock.json', 'scripts/process.mjs', 'scripts/setup'],
  ...['tests/support/browser.mjs', 'tests/support/chromium.sh'],
];
const WORKBENCH = [...PAGE, 'bundled', 'server/jarvis_ls', 'requirements.lock', 'tests/workspaces'];
/** What the tests of a folder depend on, beside all in this folder that is no test. */
const FOLDERS = new Map([
  ['tests/webview', PAGE],
  ['tests/e2e', WORKBENCH],
]);

/**
 * Of files of tests, those that passed on all they depend on as it is now.
 * @param {string[]} files from the root
 */
export function unchanged(files) {
  if (process.env.JARVIS_TESTS_FULL) return [];
  const stamps = read();
  return files.filter((file) => {
    const digest = digestFor(file);
    return digest !== undefined && stamps[slashed(file)] === digest;
  });
}

/**
 * Notes how files of tests ended.
 * @param {Record<string, boolean>} outcomes whether every test of a file passed, by its path
 */
export function note(outcomes) {
  const stamps = read();
  for (const [file, passed] of Object.entries(outcomes)) {
    const digest = digestFor(file);
    if (digest === undefined) continue;
    if (passed) stamps[slashed(file)] = digest;
    else delete stamps[slashed(file)];
  }
  const kept = Object.fromEntries(
    Object.entries(stamps)
      .filter(([file]) => existsSync(path.join(ROOT, file)))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  writeFileSync(FILE, `${JSON.stringify(kept, null, 1)}\n`);
}

/** @returns {Record<string, string>} digests by file */
function read() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
}

/** @param {string} file */
function digestFor(file) {
  const folder = slashed(path.dirname(file));
  const watched = FOLDERS.get(folder);
  if (watched === undefined) return undefined;
  return digestOf([...watched, file, folder], [], (name) => !/\.test\.mjs$/.test(name));
}

/** @param {string} file */
function slashed(file) {
  return file.replaceAll(path.sep, '/');
}
