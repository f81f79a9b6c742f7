// npm run lock: every Python package at its newest version that pyproject.toml allows, with the hashes
// of its files, into requirements.lock; and the SBOM of the wheels, which names these versions.

import path from 'node:path';
import { ROOT, run, task } from './process.mjs';
import { setUpPython, venv } from './setup/python.mjs';

await task(async () => {
  await setUpPython();
  const scripts = path.join(ROOT, 'scripts');
  const status = await run(venv('python'), [path.join(scripts, 'lock.py')]);
  if (status !== 0) return status;
  return await run(venv('python'), [path.join(scripts, 'package', 'wheel_bill.py')]);
});
