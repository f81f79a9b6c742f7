// Runs other programs for the task scripts: loudly (their output is the user's output) or quietly
// (one line while it works, the whole output only when it fails).

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..');

/** What the user can mend: printed as one line, without a stack trace. */
export class TaskError extends Error {}

/** @typedef {{cwd?: string, env?: NodeJS.ProcessEnv}} RunOptions */

/**
 * Runs a program on the user's terminal.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<number>} its exit status; 128 + signal when a signal ended it
 */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, ...options, stdio: 'inherit' });
  return outliveSignals(() => exitStatus(child, command));
}

/**
 * Runs a program and keeps what it prints.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{status: number, stdout: string, stderr: string}>}
 */
export async function capture(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const status = await exitStatus(child, command);
  return { status, stdout, stderr };
}

/**
 * Runs one step of a set-up: a line with its name and time; its output only when it fails.
 * @param {string} name what the user reads
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} what it printed on standard output
 * @throws {TaskError} when it ends with another status than 0
 */
export async function step(name, command, args, options = {}) {
  const began = performance.now();
  const { status, stdout, stderr } = await capture(command, args, options);
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    throw new TaskError(`${name}: failed (status ${status}); its output is above`);
  }
  console.log(`${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return stdout;
}

/**
 * The program and leading arguments that start npm, whatever the platform.
 * @returns {[string, string[]]}
 */
export function npm() {
  const script = process.env.npm_execpath;
  return script ? [process.execPath, [script]] : ['npm', []];
}

/**
 * Where a program is found on the PATH.
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function which(name) {
  const finder = process.platform === 'win32' ? 'where' : 'sh';
  const args = process.platform === 'win32' ? [name] : ['-c', 'command -v "$0"', name];
  const { status, stdout } = await capture(finder, args);
  return status === 0 ? stdout.split(/\r?\n/)[0] : undefined;
}

/**
 * Runs the body of a task script and turns its result into the exit status.
 * @param {() => Promise<number | void>} body
 */
export async function task(body) {
  try {
    process.exitCode = (await body()) || 0;
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    console.error(`error: ${error.message}`);
    process.exitCode = 1;
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} command
 * @returns {Promise<number>}
 */
function exitStatus(child, command) {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new TaskError(`${command}: ${error.message}`)));
    child.once('close', (code, signal) =>
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']),
    );
  });
}

/**
 * A terminal sends Ctrl-C to the child as well: it ends in its own way and we report its status.
 * @template T
 * @param {() => Promise<T>} body
 * @returns {Promise<T>}
 */
async function outliveSignals(body) {
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    return await body();
  } finally {
    process.off('SIGINT', ignore);
  }
}
