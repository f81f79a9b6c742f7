// The Python package as a wheel.

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { step, TaskError } from '../process.mjs';
import { venv } from '../setup/python.mjs';

/**
 * Builds the wheel with the backend that is installed in .venv, so that no network is needed.
 * @param {string} folder where it is laid; older wheels of this project there are removed
 * @param {boolean} compiled whether what follows functions is machine code, by compiled.py: the wheel
 *   is then one for the Python of .venv on this platform
 * @returns {Promise<string>} its path
 */
export async function buildWheel(folder, compiled) {
  for (const old of wheels(folder)) rmSync(path.join(folder, old));
  const build = ['-m', 'build', '--wheel', '--no-isolation', '--outdir', folder];
  const env = { ...process.env, HATCH_BUILD_HOOK_ENABLE_CUSTOM: compiled ? '1' : '0' };
  await step(compiled ? 'Compiled wheel' : 'Wheel', venv('python'), build, { env });
  const [wheel] = wheels(folder);
  if (!wheel) throw new TaskError(`Wheel: the build left none in ${folder}`);
  return path.join(folder, wheel);
}

/** @param {string} folder */
function wheels(folder) {
  return readdirSync(folder).filter((name) => /^jarvis_ls-.*\.whl$/.test(name));
}
