// npm run check: formatters, linters, types, import contracts, generated files up to date.
// Every check runs, so that one run shows everything there is to mend; two at a time.

import path from 'node:path';
import { capture, ROOT, run, task } from './process.mjs';
import { setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';

/** @type {[name: string, command: string, args: string[]][]} */
const CHECKS = [
  ['Python types', venv('mypy'), []], // the longest: the others run beside it
  ['Python format', venv('ruff'), ['format', '--check', '.']],
  ['Python lint', venv('ruff'), ['check', '.']],
  ['Import contracts', venv('lint-imports'), []],
  ['Generated wire types', venv('python'), ['-m', 'jarvis_ls.lsp.protocol.typescript', '--check']],
  ['Tables of the documentation', venv('python'), ['scripts/doc_tables.py', '--check']],
  ['Completions and manual pages', venv('python'), ['scripts/shell_files.py', '--check']],
  ['Schema of the settings', venv('python'), ['scripts/settings_schema.py', '--check']],
  ['Lock of Python packages', venv('python'), ['scripts/lock.py', '--check']],
  ['SBOM of the wheels', venv('python'), ['scripts/package/wheel_bill.py', '--check']],
  ['Odd phrases', venv('python'), ['scripts/phrases.py', '--check']],
  ['Chinese catalogs', venv('python'), ['scripts/translations.py', '--check']],
  ['Client types', process.execPath, [module('typescript/bin/tsc'), '-p', 'tsconfig.json']],
  ['Page types', process.execPath, [module('typescript/bin/tsc'), '-p', 'tsconfig.webview.json']],
  ['Script types', process.execPath, [module('typescript/bin/tsc'), '-p', 'tsconfig.scripts.json']],
  [
    'Client and scripts: format, lint',
    process.execPath,
    [module('@biomejs/biome/bin/biome'), 'ci'],
  ],
];

await task(async () => {
  if (process.argv.includes('--measures')) {
    await setUpPython();
    const given = process.argv.slice(process.argv.indexOf('--measures') + 1);
    return await run(venv('python'), [path.join(ROOT, 'scripts', 'measures.py'), ...given]);
  }
  await Promise.all([setUpPython(), setUpPackages()]);
  const waiting = [...CHECKS];
  /** @type {string[]} */
  const failed = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (!(await passes(...next))) failed.push(next[0]);
    }
  };
  await Promise.all([work(), work()]);
  console.log(
    failed.length === 0
      ? `${CHECKS.length} checks passed.`
      : `${failed.length} of ${CHECKS.length} checks failed: ${failed.join('; ')}`,
  );
  return failed.length === 0 ? 0 : 1;
});

/**
 * Runs one check and says how it went, with its output when it failed.
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
async function passes(name, command, args) {
  const began = performance.now();
  const { status, stdout, stderr } = await capture(command, args);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}\n`);
  return status === 0;
}

/** @param {string} script a program of an installed package */
function module(script) {
  return path.join(ROOT, 'node_modules', script);
}
