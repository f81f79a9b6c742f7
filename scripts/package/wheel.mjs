// The Python package as a wheel.

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { step, TaskError } from '../process.mjs';
import { venv } from '../setup/python.mjs';

/**
 * Builds the wheel with the backend that is installed in .venv, so that no network is needed.
 * @param {string} folder where it is laid; older wheels of this project there are removed
 * @returns {Promise<string>} its path
 */
export async function buildWheel(folder) {
  for (const old of wheels(folder)) rmSync(path.join(folder, old));
  await step('Wheel', venv('python'), [
    ...['-m', 'build', '--wheel', '--no-isolation', '--outdir', folder],
  ]);
  const [wheel] = wheels(folder);
  if (!wheel) throw new TaskError(`Wheel: the build left none in ${folder}`);
  return path.join(folder, wheel);
}

/** @param {string} folder */
function wheels(folder) {
  return readdirSync(folder).filter((name) => /^jarvis_ls-.*\.whl$/.test(name));
}
