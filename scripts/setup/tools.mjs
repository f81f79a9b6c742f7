// Tools outside of npm and pip: which are missing, what each of them is for, and how to get it.

import { existsSync } from 'node:fs';
import { capture, TaskError, which } from '../process.mjs';
import { findPythons, venv } from './python.mjs';

/**
 * @typedef {object} Tool
 * @property {string[]} programs any one of these names will do
 * @property {string} package its Debian package
 * @property {string} [with] another package without which it cannot be found
 * @property {string} purpose what needs it
 * @property {() => Promise<boolean>} [present] how to find what is no program
 */

/** @type {Tool[]} */
const TEST_TOOLS = [
  {
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    package: 'chromium',
    purpose: 'the tests in a real VS Code workbench, of the side panel and of the report page',
  },
  { programs: ['nvim'], package: 'neovim', purpose: 'the test of the server in Neovim' },
  { programs: ['rg'], package: 'ripgrep', purpose: 'VS Code in the browser (npm run editor)' },
  { programs: ['g++'], package: 'g++', purpose: 'the logs of VS Code in the browser' },
  { programs: ['make'], package: 'make', purpose: 'the logs of VS Code in the browser' },
  {
    programs: ['fc-list'],
    package: 'fonts-wqy-microhei',
    with: 'fontconfig',
    purpose: 'Chinese text in screenshots',
    present: hasChineseFont,
  },
];

/** @type {Tool} */
const HEADERS = {
  programs: [],
  package: 'python3-dev',
  purpose: 'the compiled wheel (npm run package -- --compiled, its test and benchmark)',
  present: hasPythonHeaders,
};

/** @type {Tool[]} */
const BENCH_TOOLS = [
  { programs: ['flawfinder'], package: 'flawfinder', purpose: 'the comparison with flawfinder' },
  { programs: ['cppcheck'], package: 'cppcheck', purpose: 'the comparison with cppcheck' },
];

export const TOOLS = { test: [...TEST_TOOLS, HEADERS], bench: [...BENCH_TOOLS, HEADERS] };

/**
 * The tools of a list that are not on this machine.
 * @param {Tool[]} tools
 */
export async function missingTools(tools) {
  const present = await Promise.all(tools.map(isPresent));
  return tools.filter((_, index) => !present[index]);
}

/** One line for each tool that is missing for `npm test` or `npm run editor`. */
export async function explainMissingTools() {
  for (const tool of await missingTools(TOOLS.test)) console.log(notice(tool));
}

/**
 * Checks that the tools are there; installs nothing.
 * @param {Tool[]} tools
 * @throws {TaskError} naming what is missing, what for, and the command that installs it
 */
export async function requireTools(tools) {
  const missing = await missingTools(tools);
  if (missing.length === 0) return;
  for (const tool of missing) console.error(notice(tool));
  const packages = missing.flatMap(debianPackages);
  throw new TaskError(`install what is missing: sudo apt install ${packages.join(' ')}`);
}

/**
 * The browser the tests drive.
 * @returns {Promise<string | undefined>}
 */
export async function findBrowser() {
  const [browser] = TEST_TOOLS;
  return browser && firstProgram(browser.programs);
}

/** @param {Tool} tool */
function notice(tool) {
  return `${tool.package} is missing: needed for ${tool.purpose}`;
}

/** @param {Tool} tool */
function debianPackages(tool) {
  return tool.with ? [tool.with, tool.package] : [tool.package];
}

/** @param {Tool} tool */
async function isPresent(tool) {
  return tool.present ? tool.present() : (await firstProgram(tool.programs)) !== undefined;
}

/** @param {string[]} names */
async function firstProgram(names) {
  for (const name of names) {
    const found = await which(name);
    if (found) return found;
  }
  return undefined;
}

async function hasChineseFont() {
  if (!(await which('fc-list'))) return false;
  return (await capture('fc-list', [':lang=zh'])).stdout.trim() !== '';
}

/** Of the Python that .venv has, or will have. */
async function hasPythonHeaders() {
  const own = venv('python');
  const python = existsSync(own)
    ? own
    : (await findPythons()).find((one) => one.canMakeVenv)?.executable;
  if (!python) return true; // what is missing is told when .venv is made
  const header = 'os.path.join(sysconfig.get_path("include"), "Python.h")';
  const probe = `import os, sys, sysconfig; sys.exit(not os.path.exists(${header}))`;
  return (await capture(python, ['-c', probe])).status === 0;
}
