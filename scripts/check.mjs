// npm run check: formatters, linters, types, import contracts, generated files up to date.
// Every check runs, so that one run shows everything there is to mend.

import path from 'node:path';
import { capture, ROOT, task } from './process.mjs';
import { setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';

/** @type {[name: string, command: string, args: string[]][]} */
const CHECKS = [
  ['Python format', venv('ruff'), ['format', '--check', '.']],
  ['Python lint', venv('ruff'), ['check', '.']],
  ['Python types', venv('mypy'), []],
  ['Import contracts', venv('lint-imports'), []],
  ['Generated wire types', venv('python'), ['-m', 'jarvis_ls.lsp.protocol_ts', '--check']],
  ['Tables of the README', venv('python'), ['scripts/readme_tables.py', '--check']],
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
  await setUpPython();
  await setUpPackages();
  const failed = [];
  for (const [name, command, args] of CHECKS) {
    const began = performance.now();
    const { status, stdout, stderr } = await capture(command, args);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
    if (status === 0) continue;
    failed.push(name);
    process.stdout.write(`${stdout}${stderr}\n`);
  }
  console.log(
    failed.length === 0
      ? `${CHECKS.length} checks passed.`
      : `${failed.length} of ${CHECKS.length} checks failed: ${failed.join('; ')}`,
  );
  return failed.length === 0 ? 0 : 1;
});

/** @param {string} script a program of an installed package */
function module(script) {
  return path.join(ROOT, 'node_modules', script);
}
