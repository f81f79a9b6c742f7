// npm run package [-- --target TARGET] [-- --only wheel] [-- --compiled]: the wheel and the
// extension, in dist/. The extension brings its Python libraries for one platform, so that it works
// offline with any Python from 3.10 on; see package/libraries.mjs. What is compiled serves the Python
// of .venv; another one runs the Python beside it.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildExtension } from './package/extension.mjs';
import { bundleLibraries, findTarget, hostTarget } from './package/libraries.mjs';
import { buildWheel } from './package/wheel.mjs';
import { ROOT, TaskError, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython } from './setup/python.mjs';

await task(async () => {
  const { target, only, compiled } = options();
  const dist = path.join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  await setUpPython();
  const wheel = await buildWheel(dist, compiled);
  console.log(`  ${path.relative(ROOT, wheel)}`);
  if (only === 'wheel') return;

  await setUpPackages();
  await buildClient();
  const libraries = path.join(dist, 'libraries', target.name);
  await bundleLibraries(target, wheel, libraries);
  const extension = await buildExtension(target.name, libraries, dist);
  console.log(`  ${path.relative(ROOT, extension)}`);
});

function options() {
  const { values } = parseArgs({
    options: {
      target: { type: 'string' },
      only: { type: 'string' },
      compiled: { type: 'boolean', default: false },
    },
  });
  const target = findTarget(values.target ?? hostTarget());
  if (values.compiled && target.name !== hostTarget()) {
    throw new TaskError(`${target.name}: compiling is possible on the platform itself only`);
  }
  return { target, only: values.only, compiled: values.compiled };
}
