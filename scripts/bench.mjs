// npm run bench [-- NAME...]: the benchmarks of tests/bench, each a table of ratios measured in one
// run with the limit it must keep; another status than 0 when a limit is missed.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fetchSources, SOURCES } from './bench/debian-sources.mjs';
import { ROOT, run, TaskError, task } from './process.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';

const BENCHES = path.join(ROOT, 'tests', 'bench');

await task(async () => {
  const names = wanted(process.argv.slice(2));
  await setUpPython();
  await requireTools(TOOLS.bench);
  await fetchSources();
  const env = { ...process.env, JARVIS_BENCH_SOURCES: SOURCES };
  const missed = [];
  for (const name of names) {
    console.log(`\n== ${name}`);
    const status = await run(venv('python'), [path.join(BENCHES, `${name}.py`)], { env });
    if (status !== 0) missed.push(name);
  }
  if (missed.length > 0) throw new TaskError(`not reached: ${missed.join(', ')}`);
});

/**
 * @param {string[]} given
 * @throws {TaskError} when there is no benchmark of a name
 */
function wanted(given) {
  const known = readdirSync(BENCHES)
    .filter((file) => /^[a-z]\w*\.py$/.test(file))
    .map((file) => path.basename(file, '.py'))
    .sort();
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new TaskError(`${unknown.join(', ')}: no such benchmark; there are ${known.join(', ')}`);
  }
  return given.length > 0 ? given : known;
}
