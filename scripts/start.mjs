// npm start [-- PATH]: sets everything up, scans PATH with no model and no network, and says how to
// see the same in an editor. PATH is a C project of this repository when none is given.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, run, TaskError, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { leaveMachineCode } from './setup/machine-code.mjs';
import { makeVenv, setUpPython, venv } from './setup/python.mjs';
import { explainMissingTools } from './setup/tools.mjs';

/** Findings of the sample that a run shows in a few seconds. */
const PROVEN = '--trust --rule write-past-buffer tests/workspaces/inventory';

await task(async () => {
  const [given, ...options] = process.argv.slice(2);
  const target = projectPath(given);
  await makeVenv();
  await Promise.all([setUpPython(), setUpClient()]); // both wait for the network most of the time
  await explainMissingTools();

  console.log(`\nScanning ${target}\n`);
  const status = await run(venv('jsec'), ['scan', target, ...options]);
  if (status !== 0) return status;

  const jsec = path.relative(process.cwd(), venv('jsec')) || venv('jsec');
  console.log('\nTo see flaws happen: this builds the code and runs it on a copy in a sandbox:');
  console.log(`  ${jsec} prove --all ${given ?? PROVEN}`);
  const shown = given ? ` -- ${given}` : '';
  console.log('\nThe same findings in a real editor, with quick fixes and a findings view:');
  console.log(`  npm run editor${shown}`);
  console.log('On the command line, from anywhere:');
  console.log(`  ${jsec} scan PATH`);
  await leaveMachineCode();
  return 0;
});

/**
 * @param {string | undefined} given relative to where the user typed the command
 * @throws {TaskError} when there is no such file or folder
 */
function projectPath(given) {
  if (!given) return path.join(ROOT, 'tests', 'workspaces', 'inventory');
  const target = path.resolve(process.env.INIT_CWD ?? process.cwd(), given);
  if (!existsSync(target)) throw new TaskError(`${given}: no such file or folder`);
  return target;
}

/** The scan needs no client: without it there is one line, and the report comes all the same. */
async function setUpClient() {
  try {
    await setUpPackages();
    await buildClient();
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    console.error(`The editor will not be available: ${error.message}`);
  }
}
