// npm run package [-- --target TARGET] [-- --only wheel] [-- --plain]: the wheels and the extension,
// in dist/. One wheel serves every Python, one has machine code for that of .venv. The extension brings
// its Python libraries for one platform, so that it works offline with any Python from 3.10 on; see
// package/libraries.mjs. Machine code is in it, too; another Python runs the Python beside it.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildExtension } from './package/extension.mjs';
import { bundleLibraries, findTarget, hostTarget } from './package/libraries.mjs';
import { buildWheel, whyNotCompiled } from './package/wheel.mjs';
import { ROOT, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython } from './setup/python.mjs';

await task(async () => {
  const { target, only, whyPlain } = options();
  const dist = path.join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  await setUpPython();
  let wheel = await buildWheel(dist, false);
  console.log(`  ${path.relative(ROOT, wheel)}`);
  const why = whyPlain || (await whyNotCompiled());
  if (why) {
    console.log(`  no machine code: ${why}`);
  } else {
    wheel = await buildWheel(dist, true);
    console.log(`  ${path.relative(ROOT, wheel)}`);
  }
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
      plain: { type: 'boolean', default: false },
    },
  });
  const target = findTarget(values.target ?? hostTarget());
  const elsewhere = target.name === hostTarget() ? '' : `this is not ${target.name}`;
  return { target, only: values.only, whyPlain: values.plain ? 'as asked for' : elsewhere };
}
