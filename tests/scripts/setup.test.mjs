import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';
import { WITH_SCRIPTS } from '../../scripts/setup/client.mjs';
import { venv } from '../../scripts/setup/python.mjs';
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

test('packages run no script of theirs, but for those that are named', async () => {
  const { stdout } = await capture('npm', ['config', 'get', 'ignore-scripts'], { cwd: ROOT });
  assert.equal(stdout.trim(), 'true');
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  for (const name of WITH_SCRIPTS) {
    assert.ok(lock.packages[`node_modules/${name}`]?.hasInstallScript, name);
  }
});

test('Python packages that differ from their hashes are not installed', async () => {
  const lock = readFileSync(path.join(ROOT, 'requirements.lock'), 'utf8');
  const entry = /^attrs==(?:.*\\\n)+.*\n/m.exec(lock)?.[0] ?? '';
  assert.match(entry, /--hash=sha256:/);
  const forged = path.join(folder, 'forged.txt');
  writeFileSync(forged, entry.replaceAll(/sha256:[0-9a-f]{64}/g, `sha256:${'0'.repeat(64)}`));
  const target = path.join(folder, 'target');
  const { status, stderr } = await capture(venv('python'), [
    ...['-m', 'pip', 'install', '--require-hashes', '--no-deps', '--target', target, '-r', forged],
  ]);
  assert.equal(status, 1);
  assert.match(stderr, /DO NOT MATCH THE HASHES/);
});

test('the lock of Python packages is in step with pyproject.toml, and drift is seen', async () => {
  const project = path.join(folder, 'drifted');
  mkdirSync(path.join(project, 'scripts'), { recursive: true });
  for (const entry of ['scripts/lock.py', 'pyproject.toml', 'requirements.lock']) {
    cpSync(path.join(ROOT, entry), path.join(project, entry));
  }
  const check = () =>
    capture(venv('python'), [path.join(project, 'scripts', 'lock.py'), '--check']);
  assert.equal((await check()).status, 0);
  const file = path.join(project, 'pyproject.toml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"pygls>=2.1.1,<3"', '"pygls>=2.99,<3", "not-locked"'));
  const { status, stdout } = await check();
  assert.equal(status, 1);
  assert.match(stdout, /pygls<3,>=2\.99: the lock has/);
  assert.match(stdout, /not-locked: 0 versions/);
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
