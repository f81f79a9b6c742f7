// npm run lock: every Python package at its newest version that pyproject.toml allows, with the hashes
// of its files, into requirements.lock.

import path from 'node:path';
import { ROOT, run, task } from './process.mjs';
import { setUpPython, venv } from './setup/python.mjs';

await task(async () => {
  await setUpPython();
  return await run(venv('python'), [path.join(ROOT, 'scripts', 'lock.py')]);
});
