import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-ci-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const RUST = ['cargo-web', 'rustc-web', 'rustfmt-web'];

/**
 * What `.ci/run` installs where Rust answers as told: everything else is a stand-in.
 * @param {string} name
 * @param {string} cargo what `cargo` does, in the shell
 */
async function installed(name, cargo) {
  const place = path.join(folder, name);
  const log = path.join(place, 'log');
  mkdirSync(path.join(place, '.ci'), { recursive: true });
  cpSync(path.join(ROOT, '.ci', 'run'), path.join(place, '.ci', 'run'));
  const program = (/** @type {string} */ file, /** @type {string} */ text) => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  };
  program(path.join(place, '.venv', 'bin', 'python'), 'exit 0');
  program(path.join(place, 'bin', 'npm'), 'exit 0');
  program(path.join(place, 'bin', 'sudo'), 'shift; exec "$@"');
  program(path.join(place, 'bin', 'apt-get'), `echo "$@" >> '${log}'`);
  program(path.join(place, 'bin', 'cargo'), cargo);
  for (const tool of ['rustc', 'rustfmt']) program(path.join(place, 'bin', tool), `echo ${tool}`);
  const env = { ...process.env, PATH: `${path.join(place, 'bin')}:${process.env.PATH}` };
  const { status, stderr } = await capture('bash', ['.ci/run'], { cwd: place, env });
  assert.equal(status, 0, stderr);
  return existsSync(log) ? readFileSync(log, 'utf8').split(/\s+/) : [];
}

test('CI installs a Rust where none answers, or an old one', {
  skip: process.platform !== 'linux',
}, async () => {
  for (const [name, cargo] of [
    ['old', "echo 'cargo 0.66.0'"],
    ['older', "echo 'cargo 1.81.0 (2dbb1af80 2024-08-20)'"],
    ['no toolchain', "echo 'error: no default toolchain' >&2; exit 1"],
  ]) {
    const words = await installed(name, cargo);
    assert.deepEqual(
      RUST.filter((word) => words.includes(word)),
      RUST,
      name,
    );
  }
});

test('CI leaves a Rust that is new enough', { skip: process.platform !== 'linux' }, async () => {
  const words = await installed('new', "echo 'cargo 1.100.0'");
  assert.deepEqual(
    RUST.filter((word) => words.includes(word)),
    [],
  );
});
