// npm run setup: everything a fresh clone needs; a second run finds nothing to do.

import { task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython } from './setup/python.mjs';
import { explainMissingTools } from './setup/tools.mjs';

await task(async () => {
  await setUpPython();
  await setUpPackages();
  await buildClient();
  await explainMissingTools();
  console.log('Set-up is complete.');
});
