// npm test [-- PATH OR OPTION...]: sets up what the tests need, then runs every test: pytest, and
// beside it Node's runner (scripts, client, the real VS Code workbench), whose output is shown when
// pytest has ended. Arguments that name `*.test.mjs` files go to Node's runner, all others to
// pytest; the runner without arguments then rests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { note, unchanged } from '../tests/support/browser-stamps.mjs';
import { capture, ROOT, run, TaskError, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';
import { installHost } from './setup/vscode-host.mjs';

const NODE_TEST = /\.test\.mjs$/;
// Files go to whichever worker is free, in the order of tests/conftest.py: the longest first.
const SIDE_BY_SIDE = ['-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder'];

// Exit status of pytest when tests have failed, and nothing else is wrong.
const SOME_FAILED = 1;

// Milliseconds: a test file that hangs fails; the longest takes five minutes on a quiet machine.
const LONGEST = 30 * 60_000;

// As the stamps of pytest say it.
const UNCHANGED = 'nothing they depend on has changed since they passed; .ci/run --full runs them';
const OUTCOMES = './tests/support/outcomes.mjs';

/** @type {Result} */
const PASSED = { runner: '', status: 0, output: '' };

await task(async () => {
  const given = process.argv.slice(2);
  const nodeFiles = given.filter((argument) => NODE_TEST.test(argument));
  const pytestArguments = given.filter((argument) => !NODE_TEST.test(argument));
  const all = given.length === 0;
  // Our programs start hundreds of times: they are compiled once, whatever the shell is set to.
  delete process.env.PYTHONDONTWRITEBYTECODE;
  // What machine code does is what mypyc wrote, at every level of the C compiler, which takes two
  // thirds of the time at this one; all tests (`.ci/run --full`) are of what is shipped.
  process.env.JARVIS_COMPILED_LEVEL ??= process.env.JARVIS_TESTS_FULL ? '1' : '0';
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
 * Folders of tests that passed are not kept: pytest itself would remove those of the third run
 * before, 40,000 files, with none of its workers at work.
 * @param {string[]} args
 * @returns {Promise<Result>}
 */
async function runPytest(args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-pytest-'));
  const temporary = args.some((argument) => argument.startsWith('--basetemp'))
    ? []
    : [`--basetemp=${path.join(folder, 'tests')}`];
  let status = await run(venv('python'), ['-m', 'pytest', ...temporary, ...args]);
  if (status === SOME_FAILED && args === SIDE_BY_SIDE) {
    // Beside a browser on few cores a wait may be longer than anybody's; what fails twice is a fault.
    console.log('Failed, and tried once more alone:');
    const alone = ['--last-failed', '--last-failed-no-failures=none', '--verbose'];
    const place = `--basetemp=${path.join(folder, 'again')}`;
    status = await run(venv('python'), ['-m', 'pytest', place, ...alone]);
  }
  let output = '';
  if (status === 0) await removeFolder(folder);
  else output = `The folders of the tests are in ${folder}\n`;
  return { runner: 'pytest', status, output };
}

/** @param {string} folder */
async function removeFolder(folder) {
  if (process.platform === 'win32') rmSync(folder, { recursive: true, force: true });
  else await capture('rm', ['-rf', folder]);
}

/**
 * @param {string[]} given files
 * @param {boolean} quietly beside another runner, whose output it would tear; files of which nothing
 *   they depend on has changed are then left out, and named
 * @returns {Promise<Result>}
 */
async function runNode(given, quietly) {
  const left = quietly ? unchanged(given) : [];
  const files = given.filter((file) => !left.includes(file));
  await buildClient();
  if (files.some(drivesBrowser)) await installHost();
  const runner = 'node --test';
  const shared = files.some(drivesBrowser) ? await shareEditor() : undefined;
  const options = { env: { ...process.env, ...shared?.env } };
  if (!quietly) {
    const status = await run(process.execPath, nodeTest(files), options);
    await shared?.end();
    return { runner, status, output: '' };
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-node-'));
  const outcomes = path.join(folder, 'outcomes.json');
  const first = await capture(process.execPath, nodeTest(files, outcomes), options);
  await shared?.end();
  const noted = existsSync(outcomes) ? readFileSync(outcomes, 'utf8') : '';
  if (noted !== '') note(JSON.parse(noted)); // a runner that crashed has noted nothing
  rmSync(folder, { recursive: true });
  const names = left.length > 0 ? `not run: ${UNCHANGED}\n${left.join('\n')}\n` : '';
  const output = first.stdout + first.stderr + names;
  const again = failedInBrowser(first.stdout);
  if (first.status === 0 || again.length === 0) return { runner, status: first.status, output };
  // Beside pytest a browser may wait for longer than anybody would; what fails twice is a fault.
  const second = await capture(process.execPath, nodeTest(again));
  const told = `Failed, and tried once more alone: ${again.join(', ')}`;
  const others = failures(first.stdout).some((file) => !again.includes(file));
  return {
    runner,
    status: others ? first.status : second.status,
    output: `${output}\n${told}\n${second.stdout}${second.stderr}`,
  };
}

/**
 * @param {string[]} files
 * @param {string} [outcomes] where to note how each file ended
 */
function nodeTest(files, outcomes) {
  const noted = [`--test-reporter=${OUTCOMES}`, `--test-reporter-destination=${outcomes}`];
  return [
    ...['--test', '--test-concurrency=1', `--test-timeout=${LONGEST}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...(outcomes === undefined ? [] : noted),
    ...files,
  ];
}

/**
 * The files of failed tests, as the reporter names them at its end.
 * @param {string} output
 */
function failures(output) {
  return [
    ...new Set([...output.matchAll(/^test at (\S+?\.test\.mjs):/gm)].map(([, file]) => file ?? '')),
  ];
}

/**
 * Failed files whose tests drive a browser.
 * @param {string} output
 */
function failedInBrowser(output) {
  return failures(output).filter(drivesBrowser);
}

/** @param {string} file */
function drivesBrowser(file) {
  return /^tests[/\\](e2e|webview)[/\\]/.test(file);
}

/**
 * Starts the VS Code server and the browser that the tests share.
 * @returns {Promise<{env: NodeJS.ProcessEnv, end: () => Promise<unknown>}>}
 */
async function shareEditor() {
  const script = path.join(ROOT, 'tests', 'e2e', 'serve-host.mjs');
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  if (child.exitCode !== null) throw new TaskError('VS Code for the tests did not start');
  const end = () => {
    child.stdin.end();
    return ended;
  };
  return { env: JSON.parse(line[0]), end };
}

function allNodeTests() {
  const tests = path.join(ROOT, 'tests');
  if (!existsSync(tests)) return [];
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => NODE_TEST.test(file) && !file.includes('node_modules'))
    .map((file) => path.join('tests', file))
    .sort();
}
