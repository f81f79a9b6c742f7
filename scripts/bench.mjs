// npm run bench [-- NAME... [OPTION...]]: the benchmarks of tests/bench, each a table of what was
// measured in one run with the limit it must keep; another status than 0 when a limit is missed.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fetchSources, SOURCES } from './bench/debian-sources.mjs';
import { ROOT, run, TaskError, task } from './process.mjs';
import { setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';

const BENCHES = path.join(ROOT, 'tests', 'bench');

await task(async () => {
  const given = process.argv.slice(2);
  const first = given.findIndex((word) => word.startsWith('-'));
  const end = first < 0 ? given.length : first;
  const files = wanted(given.slice(0, end));
  const options = given.slice(given[end] === '--' ? end + 1 : end);
  // What `npm start` compiled is left out: a benchmark measures Python, and builds what it compares.
  const env = { ...process.env, JARVIS_BENCH_SOURCES: SOURCES, JARVIS_COMPILED: '0' };
  if (files.some((file) => file.endsWith('.py'))) {
    await setUpPython();
    await requireTools(TOOLS.bench);
    await fetchSources(files.flatMap((file) => more(file, options)));
  }
  if (files.some((file) => file.endsWith('.mjs'))) {
    await setUpPackages();
    await requireTools(TOOLS.test);
  }
  const missed = [];
  for (const file of files) {
    console.log(`\n== ${nameOf(file)}`);
    const runner = file.endsWith('.py') ? venv('python') : process.execPath;
    const status = await run(runner, [path.join(BENCHES, file), ...options], { env });
    if (status !== 0) missed.push(nameOf(file));
  }
  if (missed.length > 0) throw new TaskError(`not reached: ${missed.join(', ')}`);
});

/**
 * The packages that a benchmark needs besides those of all.
 * @param {string} file
 * @param {readonly string[]} options
 * @returns {string[]}
 */
function more(file, options) {
  if (nameOf(file) === 'tasks') return options.length > 0 ? packages('measure/real_tasks') : [];
  if (nameOf(file) === 'code-agent') return ['toolz', 'sortedcontainers'];
  if (nameOf(file) === 'projects-proof') return ['unrtf', 'mtools', 'less', 'gzip'];
  return nameOf(file) === 'calibration' ? packages('judged') : [];
}

/**
 * The packages that the rows of a table are about.
 * @param {string} name
 * @returns {string[]}
 */
function packages(name) {
  const rows = readFileSync(path.join(BENCHES, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return [...new Set(rows.map((row) => JSON.parse(row).package))];
}

/**
 * @param {string[]} given names; all benchmarks when there are none
 * @returns {string[]} their files
 * @throws {TaskError} when there is no benchmark of a name
 */
function wanted(given) {
  const known = readdirSync(BENCHES)
    .filter((file) => /^[a-z][\w-]*\.(?:py|mjs)$/.test(file))
    .sort();
  const names = known.map(nameOf);
  const unknown = given.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new TaskError(`${unknown.join(', ')}: no such benchmark; there are ${names.join(', ')}`);
  }
  return given.length > 0 ? known.filter((file) => given.includes(nameOf(file))) : known;
}

/** @param {string} file */
function nameOf(file) {
  return path.parse(file).name;
}
