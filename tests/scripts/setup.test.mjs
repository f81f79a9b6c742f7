import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';
import { fingerprint } from '../../scripts/setup/stamp.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-setup-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a second set-up does no work', async () => {
  await capture(process.execPath, ['scripts/setup.mjs']);
  const { status, stdout } = await capture(process.execPath, ['scripts/setup.mjs']);
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /Python packages|npm ci|built/);
  assert.match(stdout, /Set-up is complete\.\n$/);
});

test('without a suitable Python there is one clear line', async () => {
  const project = path.join(folder, 'project');
  mkdirSync(project);
  for (const entry of ['scripts', 'pyproject.toml', 'package.json', 'package-lock.json']) {
    cpSync(path.join(ROOT, entry), path.join(project, entry), { recursive: true });
  }
  const env = { ...process.env, JARVIS_PYTHON: path.join(folder, 'no-such-python') };
  const { status, stderr } = await capture(process.execPath, ['scripts/start.mjs'], {
    cwd: project,
    env,
  });
  assert.equal(status, 1);
  assert.equal(
    stderr,
    'error: Python 3.10 or newer was not found: install it, or name it in JARVIS_PYTHON\n',
  );
});

test('a path that does not exist is refused before anything is set up', async () => {
  const { status, stderr } = await capture(process.execPath, ['scripts/start.mjs', 'no/such']);
  assert.equal(status, 1);
  assert.equal(stderr, 'error: no/such: no such file or folder\n');
});

test('a stamp stands for the contents of files and folders', () => {
  const sources = path.join(folder, 'sources');
  mkdirSync(path.join(sources, 'deep'), { recursive: true });
  const file = path.join(sources, 'deep', 'a.ts');
  writeFileSync(file, 'one');
  const before = fingerprint(['x'], [sources]);
  assert.equal(fingerprint(['x'], [sources]), before);
  assert.notEqual(fingerprint(['y'], [sources]), before);
  writeFileSync(file, 'two');
  assert.notEqual(fingerprint(['x'], [sources]), before);
});

test('the lock file names no registry', () => {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages).filter(([name]) => name !== '');
  assert.ok(packages.length > 50);
  assert.deepEqual(
    packages.filter(([, entry]) => 'resolved' in entry || !entry.integrity),
    [],
  );
});
