// One VS Code server for all files of end-to-end tests, which run one after the other; `serve-host.mjs`
// starts it. A workbench that shares it has its own window, settings, home of Jarvis and workspace;
// when it is closed its extension host is ended, and with that the language server. One that needs
// another language, environment or a packaged extension starts a server of its own.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { capture } from '../../scripts/process.mjs';
import { userSettings } from '../../scripts/setup/vscode-run.mjs';

/** Names the shared server, as JSON. */
export const HOST = 'JARVIS_E2E_HOST';
/** What the environment of a workbench may name and yet share the server. */
const SHARED = new Set(['JARVIS_HOME', 'RUSTUP_HOME', 'CARGO_HOME']);

/**
 * @typedef {object} SharedHost
 * @property {string} address
 * @property {string} folder that the server keeps its data in
 * @property {number} pid which leads the server's processes
 */

/**
 * The server to share, ready for a workbench with these options; undefined when it needs its own.
 * @param {import('./workbench.mjs').Options} options
 * @param {Record<string, unknown>} settings of the user
 * @param {string} base the folder of the workbench
 * @returns {SharedHost | undefined}
 */
export function joinHost({ vsix, locale, env = {} }, settings, base) {
  const shared = process.env[HOST];
  if (!shared || vsix || locale || Object.keys(env).some((name) => !SHARED.has(name))) {
    return undefined;
  }
  /** @type {SharedHost} */
  const host = JSON.parse(shared);
  const data = path.join(host.folder, 'data');
  for (const left of ['Machine', 'User']) {
    rmSync(path.join(data, left), { recursive: true, force: true });
  }
  mkdirSync(path.join(data, 'User'), { recursive: true });
  writeFileSync(path.join(data, 'User', 'settings.json'), userSettings(settings));
  const home = path.join(host.folder, 'jarvis');
  rmSync(home, { force: true });
  symlinkSync(env.JARVIS_HOME ?? path.join(base, '.jarvis'), home);
  if (!env.JARVIS_HOME) mkdirSync(path.join(base, '.jarvis'));
  return host;
}

/**
 * Ends the extension hosts of a server's closed windows, and what watches files for them.
 * @param {SharedHost} host
 */
export async function endWindows({ pid }) {
  const { stdout } = await capture('ps', ['-A', '-o', 'pid=,pgid=,args=']);
  for (const line of stdout.split('\n')) {
    const [, id, group, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(group) !== pid || !/--type=(extensionHost|fileWatcher)/.test(args ?? '')) continue;
    try {
      process.kill(Number(id), 'SIGKILL');
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
    while (existsSync(`/proc/${id}`) && !isZombie(Number(id))) await sleep(20);
  }
}

/** @param {number} pid */
function isZombie(pid) {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''));
  } catch {
    return true; // gone meanwhile
  }
}
