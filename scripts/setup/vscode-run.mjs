// Runs the workbench of vscode-host.mjs: code-server on this machine only, without a password, with
// its own home, settings and temporary files, so that nothing of the user's is read or changed.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { capture, TaskError } from '../process.mjs';
import { HOST_ENTRY } from './vscode-host.mjs';

const START_SECONDS = 60;
const STOP_SECONDS = 8;

/** A workbench for work on one project, quiet and without any call to the network. */
const SETTINGS = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
};

/**
 * @typedef {object} Host
 * @property {string} address host and port
 * @property {number} pid of code-server; its process group holds everything it starts
 * @property {string} log file with what it printed
 * @property {Promise<void>} ended
 * @property {() => Promise<void>} stop ends the whole group
 */

/**
 * Starts code-server and waits until it answers.
 * @param {object} options
 * @param {string} options.folder keeps its home, settings, extensions and log; a short path
 * @param {Record<string, unknown>} [options.settings] of the user, when there are none yet
 * @param {NodeJS.ProcessEnv} [options.env] added to the environment of this process
 * @returns {Promise<Host>}
 * @throws {TaskError} when it does not come up
 */
export async function startHost({ folder, settings = {}, env = {} }) {
  const user = path.join(folder, 'data', 'User');
  mkdirSync(user, { recursive: true });
  writeOnce(path.join(user, 'settings.json'), userSettings(settings));

  const address = `127.0.0.1:${await freePort()}`;
  const log = path.join(folder, 'code-server.log');
  const output = openSync(log, 'w');
  const child = spawn(process.execPath, [...argumentsFor(folder), '--bind-addr', address], {
    env: { ...environmentFor(folder), ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once('exit', () => resolve(undefined)));
  const pid = child.pid ?? 0;
  const stop = () => stopGroup(pid, ended);
  if (!(await answers(address, () => child.exitCode !== null))) {
    await stop();
    throw new TaskError(`VS Code in the browser did not start: see ${log}`);
  }
  return { address, pid, log, ended, stop };
}

/**
 * Installs a packaged extension for the workbench of a folder, as a user would.
 * @param {string} folder of `startHost`
 * @param {string} vsix
 * @param {NodeJS.ProcessEnv} [env] added to the environment of this process
 * @throws {TaskError} when VS Code refuses it
 */
export async function installExtension(folder, vsix, env = {}) {
  const { status, stdout, stderr } = await capture(
    process.execPath,
    [...argumentsFor(folder), '--install-extension', vsix],
    { env: { ...environmentFor(folder), ...env } },
  );
  if (status !== 0 || !/successfully installed/.test(stdout)) {
    throw new TaskError(`VS Code does not take ${vsix}: ${stdout}${stderr}`);
  }
}

/**
 * The address of a workbench that shows a folder with an extension run from its sources.
 * @param {Host} host
 * @param {string} folder
 * @param {string} extension
 */
export function workbenchUrl(host, folder, extension) {
  const payload = [['extensionDevelopmentPath', `vscode-remote://${host.address}${extension}`]];
  const query = new URLSearchParams({ folder, payload: JSON.stringify(payload) });
  return `http://${host.address}/?${query}`;
}

/**
 * Everything the host keeps lies in its folder; told its settings file, it looks for no other.
 * @param {string} folder
 */
function argumentsFor(folder) {
  const settings = path.join(folder, 'empty.yaml');
  mkdirSync(folder, { recursive: true });
  writeFileSync(settings, '');
  return [
    ...[HOST_ENTRY, '--auth', 'none', '--disable-telemetry', '--disable-update-check'],
    ...['--disable-getting-started-override', '--config', settings],
    ...['--user-data-dir', path.join(folder, 'data')],
    ...['--extensions-dir', path.join(folder, 'extensions')],
  ];
}

/**
 * @param {string} folder
 * @returns {NodeJS.ProcessEnv}
 */
function environmentFor(folder) {
  const temporary = path.join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return {
    ...withoutEditorVariables(process.env),
    XDG_DATA_HOME: path.join(folder, 'xdg'),
    TMPDIR: temporary,
  };
}

/**
 * @param {string} address
 * @param {() => boolean} gone
 */
async function answers(address, gone) {
  for (const began = Date.now(); Date.now() - began < START_SECONDS * 1000; await sleep(100)) {
    if (gone()) return false;
    const answer = await fetch(`http://${address}/healthz`).catch(() => undefined);
    if (answer?.ok) return true;
  }
  return false;
}

/**
 * code-server keeps its extension host for hours after it lost its browser: the group must go.
 * @param {number} pid
 * @param {Promise<unknown>} ended
 */
async function stopGroup(pid, ended) {
  signalGroup(pid, 'SIGTERM');
  await Promise.race([ended, sleep(STOP_SECONDS * 1000, undefined, { ref: false })]);
  signalGroup(pid, 'SIGKILL');
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/**
 * Inside VS Code's own terminal these variables would lead to the editor around us.
 * @param {NodeJS.ProcessEnv} env
 */
function withoutEditorVariables(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VSCODE_')));
}

/**
 * The user's settings file of a quiet workbench.
 * @param {Record<string, unknown>} settings more of them
 */
export function userSettings(settings) {
  return `${JSON.stringify({ ...SETTINGS, ...settings }, null, 2)}\n`;
}

/**
 * @param {string} file
 * @param {string} text
 */
function writeOnce(file, text) {
  if (!existsSync(file)) writeFileSync(file, text);
}
