import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';
import { venv } from '../../scripts/setup/python.mjs';

/**
 * What is wrong in the two workspaces: file, the line's text, and one of these weaknesses. What is
 * marked as missed is not found yet; once it is, the mark has to go.
 */
const FLAWS = JSON.parse(readFileSync(path.join(ROOT, 'tests/workspaces/flaws.json'), 'utf8'));

test('npm start reports on the C project and says how to go on', async () => {
  const env = { ...process.env, JARVIS_COMPILED: '0' };
  const { status, stdout } = await capture(process.execPath, ['scripts/start.mjs'], { env });
  assert.equal(status, 0);
  assert.match(stdout, /src\/store\.c:\d+:\d+/);
  assert.match(stdout, /use-after-free/);
  assert.match(stdout, /npm run editor/);
  assert.doesNotMatch(stdout, /compiled/);
});

test('nobody waits for the compiler, and two do not compile at once', async () => {
  const hold = `
import sys, filelock, pathlib
file = pathlib.Path('.cache/compiled/leave.lock')
file.parent.mkdir(parents=True, exist_ok=True)
with filelock.FileLock(file):
    print('held', flush=True)
    sys.stdin.read()
`;
  const other = spawn(venv('python'), ['-c', hold], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  const env = { ...process.env, JARVIS_COMPILED: '' };
  const { status, stdout } = await capture(process.execPath, ['scripts/start.mjs'], { env });
  other.stdin.end();
  await once(other, 'exit');
  assert.equal(status, 0);
  assert.match(stdout, /still being compiled in the background\.\n$/);
});

for (const [workspace, flaws] of Object.entries(FLAWS)) {
  test(`the flaws of ${workspace} are reported`, async () => {
    const folder = path.join(ROOT, 'tests', 'workspaces', workspace);
    const { status, stdout, stderr } = await capture(venv('jsec'), [
      ...['scan', folder, '--format', 'json', '--no-cache', '--min-confidence', '0'],
    ]);
    assert.equal(status, 0, stderr);
    const { issues } = JSON.parse(stdout);
    const surprising = flaws.filter(
      (flaw) => issues.some((issue) => tells(issue, flaw, folder)) === Boolean(flaw.missed),
    );
    assert.deepEqual(surprising, []);
  });
}

function tells(issue, flaw, folder) {
  if (issue.file !== flaw.file || !issue.cwe.some((id) => flaw.cwe.includes(id))) return false;
  const lines = readFileSync(path.join(folder, flaw.file), 'utf8').split('\n');
  return lines[issue.line - 1].includes(flaw.text);
}
