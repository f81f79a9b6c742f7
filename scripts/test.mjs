// npm test [-- PATH OR OPTION...]: sets up what the tests need, then runs every test: pytest, and
// beside it Node's runner (scripts, client, the real VS Code workbench), whose output is shown when
// pytest has ended. Arguments that name `*.test.mjs` files go to Node's runner, all others to
// pytest; the runner without arguments then rests.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { capture, ROOT, run, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';
import { installHost } from './setup/vscode-host.mjs';

const NODE_TEST = /\.test\.mjs$/;
// Files go to whichever worker is free, in the order of tests/conftest.py: the longest first.
const SIDE_BY_SIDE = ['-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder'];

/** @type {Result} */
const PASSED = { runner: '', status: 0, output: '' };

await task(async () => {
  const given = process.argv.slice(2);
  const nodeFiles = given.filter((argument) => NODE_TEST.test(argument));
  const pytestArguments = given.filter((argument) => !NODE_TEST.test(argument));
  const all = given.length === 0;
  // Our programs start hundreds of times: they are compiled once, whatever the shell is set to.
  delete process.env.PYTHONDONTWRITEBYTECODE;
  await requireTools(TOOLS.test);
  await Promise.all([setUpPython(), setUpPackages()]);

  const results = await Promise.all([
    all || pytestArguments.length > 0 ? runPytest(all ? SIDE_BY_SIDE : pytestArguments) : PASSED,
    all || nodeFiles.length > 0 ? runNode(all ? allNodeTests() : nodeFiles, all) : PASSED,
  ]);
  for (const { output } of results) process.stdout.write(output);
  const failed = results.filter(({ status }) => status !== 0);
  for (const { runner, status } of failed) console.error(`${runner}: failed (status ${status})`);
  return failed.length === 0 ? 0 : 1;
});

/**
 * @typedef {object} Result
 * @property {string} runner
 * @property {number} status
 * @property {string} output what is still to be shown
 */

/**
 * @param {string[]} args
 * @returns {Promise<Result>}
 */
async function runPytest(args) {
  const status = await run(venv('python'), ['-m', 'pytest', ...args]);
  return { runner: 'pytest', status, output: '' };
}

/**
 * @param {string[]} files
 * @param {boolean} quietly beside another runner, whose output it would tear
 * @returns {Promise<Result>}
 */
async function runNode(files, quietly) {
  await buildClient();
  await installHost();
  const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files];
  const ended = quietly
    ? await capture(process.execPath, args)
    : { status: await run(process.execPath, args), stdout: '', stderr: '' };
  return { runner: 'node --test', status: ended.status, output: ended.stdout + ended.stderr };
}

function allNodeTests() {
  const tests = path.join(ROOT, 'tests');
  if (!existsSync(tests)) return [];
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => NODE_TEST.test(file) && !file.includes('node_modules'))
    .map((file) => path.join('tests', file))
    .sort();
}
