// Long tests that run only when what they watch has changed since they passed: `stamps.py` for
// Node's runner. A skipped test is named in the report, with the reason; `.ci/run --full`, by
// JARVIS_TESTS_FULL=1, runs every test.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../scripts/process.mjs';

const UNCHANGED =
  'nothing it watches has changed since it passed; .ci/run --full runs it, as does JARVIS_TESTS_FULL=1';
const LEFT_OUT = new Set(['__pycache__', 'node_modules', 'out']);

export class Stamp {
  /**
   * @param {string} url of the file of tests, which is watched itself
   * @param {{contents: string[], names: string[]}} watched files and folders: by what they hold, and
   *   by which files there are
   * @param {() => Promise<void>} prepare what all tests need that run, done before the first
   */
  constructor(url, { contents, names }, prepare) {
    const own = path.relative(path.join(ROOT, 'tests'), fileURLToPath(url));
    this.file = path.join(ROOT, 'tests', 'stamps', own.replace(/\.mjs$/, '.json'));
    this.digest = digestOf([...contents, path.join('tests', own)], names);
    /** @type {Set<string>} */
    this.good = new Set(readStamp(this.file)[this.digest]);
    this.full = Boolean(process.env.JARVIS_TESTS_FULL);
    /** @type {Promise<void> | undefined} */
    this.prepared = undefined;
    this.prepare = prepare;
  }

  /**
   * Declares a test that is skipped while nothing it watches has changed.
   * @param {string} name
   * @param {() => void | Promise<void>} body
   */
  test(name, body) {
    const unchanged = !this.full && this.good.has(name);
    test(name, { skip: unchanged && UNCHANGED }, async () => {
      this.note(name, false);
      this.prepared ??= this.prepare();
      await this.prepared;
      await body();
      this.note(name, true);
    });
  }

  /**
   * Keeps on disk whether a test has passed.
   * @param {string} name
   * @param {boolean} good
   */
  note(name, good) {
    if (good) this.good.add(name);
    else this.good.delete(name);
    if (this.good.size === 0) return rmSync(this.file, { force: true });
    mkdirSync(path.dirname(this.file), { recursive: true });
    const stamp = { [this.digest]: [...this.good].sort() };
    writeFileSync(this.file, `${JSON.stringify(stamp, null, 1)}\n`);
  }
}

/**
 * @param {string} file
 * @returns {Record<string, string[]>} tests that passed, by digest
 */
function readStamp(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/**
 * @param {string[]} contents
 * @param {string[]} names
 */
function digestOf(contents, names) {
  const hash = createHash('sha256');
  for (const file of contents.flatMap(filesBelow)) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  }
  for (const file of names.flatMap(filesBelow)) hash.update(`${file}\0`);
  return hash.digest('hex').slice(0, 32);
}

/**
 * Paths from the root, sorted.
 * @param {string} place
 * @returns {string[]}
 */
function filesBelow(place) {
  if (!statSync(path.join(ROOT, place)).isDirectory()) return [place];
  return readdirSync(path.join(ROOT, place), { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => filesBelow(path.join(place, name)));
}
