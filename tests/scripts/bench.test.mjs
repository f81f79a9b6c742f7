import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';
import { venv } from '../../scripts/setup/python.mjs';

/** @param {...string} words */
function bench(...words) {
  return capture(process.execPath, ['scripts/bench.mjs', ...words]);
}

test('the help lists the benchmarks and begins none', async () => {
  const { status, stdout, stderr } = await bench('--help');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^usage: npm run bench/);
  assert.match(stdout, /^ {2}desk +The desk while much goes on/m);
  assert.match(stdout, /^ {2}panel-page +What the side panel's page costs/m);
  assert.doesNotMatch(stdout, /^== /m);
});

test('the help of one says what it is about, and its options', async () => {
  const { status, stdout } = await bench('endurance', '--help');
  assert.equal(status, 0);
  assert.match(stdout, /^Long work in one server[\s\S]*--minutes/);
  assert.doesNotMatch(stdout, /^== /m);
});

test('a benchmark without its sources says how they come', async () => {
  const file = path.join(ROOT, 'tests', 'bench', 'desk.py');
  const env = { ...process.env, JARVIS_BENCH_SOURCES: path.join(ROOT, 'no-such-folder') };
  const { status, stderr } = await capture(venv('python'), [file], { env });
  assert.equal(status, 1);
  assert.match(stderr, /^no sources of libpng1\.6 in .*npm run bench/);
  assert.doesNotMatch(stderr, /Traceback/);
});
