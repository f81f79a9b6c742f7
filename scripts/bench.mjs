// npm run bench [-- NAME... [OPTION...]]: the benchmarks of tests/bench, each a table of what was
// measured in one run with the limit it must keep; another status than 0 when a limit is missed.
// `-- --help` lists them, `-- NAME --help` prints what one of them is about and measures nothing.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fetchSources, SOURCES } from './bench/debian-sources.mjs';
import { ROOT, run, TaskError, task } from './process.mjs';
import { setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';

const BENCHES = path.join(ROOT, 'tests', 'bench');
/** What `projects-proof` asks of. */
const PROVEN = ['inetutils', 'mtools', 'nano', 'procps', 'screen', 'unrtf', 'less', 'gzip'];

await task(async () => {
  const given = process.argv.slice(2);
  const first = given.findIndex((word) => word.startsWith('-'));
  const end = first < 0 ? given.length : first;
  const files = wanted(given.slice(0, end));
  if (given.includes('--help') || given.includes('-h')) {
    await (end > 0 ? explain(files) : console.log(usage(files)));
    return;
  }
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
  if (nameOf(file) === 'projects-proof') return PROVEN;
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

/**
 * What there is to run.
 * @param {readonly string[]} files
 */
function usage(files) {
  const rows = files.map((file) => {
    const [about] = introduction(file).split('\n');
    return `  ${nameOf(file).padEnd(18)}${about}`;
  });
  return [
    'usage: npm run bench [-- NAME... [OPTION...]]',
    '',
    'Without a name all of them run, which takes hours.',
    '',
    ...rows,
  ].join('\n');
}

/**
 * Prints what benchmarks are about, and their options.
 * @param {readonly string[]} files
 */
async function explain(files) {
  for (const file of files) {
    console.log(`${introduction(file)}\n`);
    if (!readFileSync(path.join(BENCHES, file), 'utf8').includes('argparse')) continue;
    await setUpPython();
    await run(venv('python'), [path.join(BENCHES, file), '--help']);
  }
}

/**
 * What a benchmark says of itself at its top: a docstring, or the first lines of comment.
 * @param {string} file
 * @returns {string}
 */
function introduction(file) {
  const text = readFileSync(path.join(BENCHES, file), 'utf8');
  const docstring = /^"""([\s\S]*?)"""/.exec(text)?.[1];
  return (docstring ?? text.split(/\n(?!\/\/)/)[0] ?? '').replace(/^\/\/ ?/gm, '').trim();
}

/** @param {string} file */
function nameOf(file) {
  return path.parse(file).name;
}
