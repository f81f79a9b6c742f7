// The Python package as a wheel.

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { capture, step, TaskError } from '../process.mjs';
import { venv } from '../setup/python.mjs';

const ANY_PYTHON = /^jarvis_ls-.*-any\.whl$/;
const COMPILED = /^jarvis_ls-.*(?<!-any)\.whl$/;

/**
 * Builds the wheel with the backend that is installed in .venv, so that no network is needed.
 * @param {string} folder where it is laid; older ones of its kind there are removed
 * @param {boolean} compiled whether the analysis of flow is machine code, by compiled.py: the wheel
 *   is then one for the Python of .venv on this platform
 * @returns {Promise<string>} its path
 */
export async function buildWheel(folder, compiled) {
  const kind = compiled ? COMPILED : ANY_PYTHON;
  for (const old of wheels(folder, kind)) rmSync(old);
  const build = ['-m', 'build', '--wheel', '--no-isolation', '--outdir', folder];
  const env = { ...process.env, HATCH_BUILD_HOOK_ENABLE_CUSTOM: compiled ? '1' : '0' };
  await step(compiled ? 'Compiled wheel' : 'Wheel', venv('python'), build, { env });
  const [wheel] = wheels(folder, kind);
  if (!wheel) throw new TaskError(`Wheel: the build left none in ${folder}`);
  return wheel;
}

/** Why nothing can be compiled for the Python of .venv here; empty when it can. */
export async function whyNotCompiled() {
  const { status, stdout, stderr } = await capture(venv('python'), ['scripts/package/compiled.py']);
  return status === 0 ? stdout.trim() : stderr;
}

/**
 * @param {string} folder
 * @param {RegExp} kind
 */
function wheels(folder, kind) {
  return readdirSync(folder)
    .filter((name) => kind.test(name))
    .map((name) => path.join(folder, name));
}
