// npm test [-- PATH OR OPTION...]: sets up what the tests need, then runs every test: pytest, then
// Node's runner (scripts, client, the real VS Code workbench). Arguments that name `*.test.mjs`
// files go to Node's runner, all others to pytest; the runner without arguments then rests.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT, run, task } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { setUpPython, venv } from './setup/python.mjs';
import { requireTools, TOOLS } from './setup/tools.mjs';
import { installHost } from './setup/vscode-host.mjs';

const NODE_TEST = /\.test\.mjs$/;

await task(async () => {
  const given = process.argv.slice(2);
  const nodeFiles = given.filter((argument) => NODE_TEST.test(argument));
  const pytestArguments = given.filter((argument) => !NODE_TEST.test(argument));
  await setUpPython();
  await setUpPackages();
  await buildClient();
  await requireTools(TOOLS.test);
  await installHost();

  const results = [];
  if (given.length === 0 || pytestArguments.length > 0) {
    const all = given.length === 0 ? ['-n', '2', '--dist', 'loadfile'] : []; // files side by side
    const status = await run(venv('python'), ['-m', 'pytest', ...all, ...pytestArguments]);
    results.push({ runner: 'pytest', status });
  }
  if (given.length === 0 || nodeFiles.length > 0) {
    const files = nodeFiles.length > 0 ? nodeFiles : allNodeTests();
    const status = await run(process.execPath, [
      ...['--test', '--test-reporter=spec', '--test-concurrency=1', ...files],
    ]);
    results.push({ runner: 'node --test', status });
  }
  const failed = results.filter(({ status }) => status !== 0);
  for (const { runner, status } of failed) console.error(`${runner}: failed (status ${status})`);
  return failed.length === 0 ? 0 : 1;
});

function allNodeTests() {
  const tests = path.join(ROOT, 'tests');
  if (!existsSync(tests)) return [];
  return readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => NODE_TEST.test(file) && !file.includes('node_modules'))
    .map((file) => path.join('tests', file))
    .sort();
}
