// A real VS Code workbench for machines without VS Code: code-server from npm in .vscode-host/.
// Only what the workbench needs is built; the rest of its native modules are for passwords, proxies
// and watching its own parent, and have stand-ins that say so.

import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { capture, npm, ROOT, step, TaskError, which } from '../process.mjs';
import { isCurrent, writeStamp } from './stamp.mjs';

/** The newest release that runs on Node 20; it holds VS Code 1.100. */
const VERSION = '4.100.3';
const NODE = '20';

const HOST = path.join(ROOT, '.vscode-host');
const PACKAGE = path.join(HOST, 'node_modules', 'code-server');
const VSCODE = path.join(PACKAGE, 'lib', 'vscode');
const MODULES = path.join(VSCODE, 'node_modules');

/** The script that Node runs to start code-server. */
export const HOST_ENTRY = path.join(PACKAGE, 'out', 'node', 'entry.js');

/**
 * Installs code-server; does nothing when it is there.
 * @throws {TaskError} when Node has another version than code-server needs, or a step fails
 */
export async function installHost() {
  const stamp = path.join(HOST, '.jarvis-set-up');
  const key = `${VERSION} ${ROOT}`;
  if (isCurrent(stamp, key) && existsSync(HOST_ENTRY)) return complete(MODULES);
  const major = process.versions.node.split('.')[0];
  if (major !== NODE) {
    throw new TaskError(`VS Code in the browser needs Node ${NODE}, this is Node ${major}`);
  }
  if (!(await answers())) await install();
  if (!(await answers()))
    throw new TaskError(`code-server ${VERSION} was installed but does not run`);
  await complete(MODULES);
  writeStamp(stamp, key);
}

/**
 * Adds what programs of this machine bring, once they are there: they may be installed later than
 * code-server.
 * @param {string} modules the folder of code-server's modules
 */
export async function complete(modules) {
  await buildNatives(modules);
  await linkRipgrep(modules);
}

async function install() {
  rmSync(HOST, { recursive: true, force: true });
  mkdirSync(HOST, { recursive: true });
  writeFileSync(path.join(HOST, 'package.json'), '{ "private": true }\n');
  const [command, leading] = npm();
  const options = ['install', '--loglevel=error', '--no-save', '--ignore-scripts', '--omit=dev'];
  const env = withoutNpmSettings();
  await step(
    'VS Code for the browser: code-server',
    command,
    [...[...leading, ...options, `code-server@${VERSION}`]],
    { cwd: HOST, env },
  );
  await step('VS Code for the browser: its modules', command, [...leading, ...options], {
    cwd: VSCODE,
    env,
  });
  placeStandIns();
  linkScripts();
}

/**
 * spdlog writes the log files and the Output panel, node-pty is the terminal. Neither has to be fast:
 * at the level of optimisation that they ask for, the compiler takes half as long again.
 * @param {string} modules
 */
async function buildNatives(modules) {
  const missing = ['@vscode/spdlog', 'node-pty'].filter(
    (name) => !existsSync(path.join(modules, name, 'build', 'Release')),
  );
  if (missing.length === 0) return;
  if (!(await which('g++')) || !(await which('make'))) {
    console.log('g++ or make is missing: VS Code in the browser comes without logs and terminal');
    return;
  }
  const headers = path.resolve(process.execPath, '..', '..');
  const local = existsSync(path.join(headers, 'include', 'node', 'node_api.h'));
  const nodedir = local ? [`--nodedir=${headers}`] : [];
  for (const module of missing) {
    await step(
      `VS Code for the browser: builds ${module}`,
      process.execPath,
      [...[await nodeGyp(), 'rebuild', ...nodedir]],
      { cwd: path.join(modules, module), env: { CXXFLAGS: '-O1', ...withoutNpmSettings() } },
    );
  }
}

function placeStandIns() {
  const argon2 = path.join(HOST, 'node_modules', 'argon2');
  rmSync(argon2, { recursive: true, force: true });
  mkdirSync(argon2);
  writeFileSync(
    path.join(argon2, 'index.js'),
    "const refuse = async () => { throw new Error('passwords are not built in'); };\n" +
      'module.exports = { hash: refuse, verify: refuse };\n',
  );
  writeFileSync(
    path.join(MODULES, 'native-watchdog', 'index.js'),
    'exports.start = () => undefined;\n',
  );
}

/**
 * Search in files is how the editor sees that a folder has C in it: without ripgrep extensions wait
 * for an opened file.
 * @param {string} modules
 */
async function linkRipgrep(modules) {
  const name = path.join(modules, '@vscode', 'ripgrep', 'bin', 'rg');
  if (existsSync(name)) return;
  const ripgrep = await which('rg');
  if (!ripgrep) {
    console.log(
      'ripgrep is missing: VS Code in the browser cannot search in files, and Jarvis starts with the first C, C++ or Rust file you open',
    );
    return;
  }
  mkdirSync(path.dirname(name), { recursive: true });
  link(ripgrep, name);
}

function linkScripts() {
  link('node_modules', path.join(VSCODE, 'node_modules.asar'));
  link('code-linux.sh', path.join(VSCODE, 'bin', 'remote-cli', 'code-server'));
  link('browser-linux.sh', path.join(VSCODE, 'bin', 'helpers', 'browser.sh'));
}

/**
 * @param {string} target
 * @param {string} name
 */
function link(target, name) {
  rmSync(name, { force: true });
  symlinkSync(target, name);
}

/** node-gyp comes with npm; where npm is depends on who installed Node. */
async function nodeGyp() {
  const [command, leading] = npm();
  const script =
    leading[0] ?? (await capture('readlink', ['-f', (await which(command)) ?? ''])).stdout.trim();
  return createRequire(script).resolve('node-gyp/bin/node-gyp.js');
}

/** An npm started by npm inherits its settings for this project: they are not for the host. */
function withoutNpmSettings() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config|package|lifecycle)_/i.test(name)),
  );
}

/** Whether code-server runs in the version wanted. */
async function answers() {
  if (!existsSync(HOST_ENTRY)) return false;
  // Told its settings file, it reads and writes none in the user's home.
  const settings = path.join(HOST, 'empty.yaml');
  writeFileSync(settings, '');
  const { status, stdout } = await capture(process.execPath, [
    ...[HOST_ENTRY, '--config', settings, '--version'],
  ]);
  return status === 0 && stdout.split(/\s+/).includes(VERSION);
}
