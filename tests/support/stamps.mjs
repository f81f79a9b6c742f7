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
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../scripts/process.mjs';

const UNCHANGED = 'nothing it watches has changed since it passed; .ci/run --full runs it';
const LEFT_OUT = new Set(['__pycache__', 'node_modules', 'out', 'README.md']);

/** The stamp of a file of tests, which holds what they watch as it was when all of them passed. */
export class Stamp {
  /**
   * @param {string} url of the file of tests, which is watched itself
   * @param {{contents: string[], names?: string[]}} watched files and folders: by what they hold, and
   *   by which files there are
   */
  constructor(url, { contents, names = [] }) {
    const own = path.relative(path.join(ROOT, 'tests'), fileURLToPath(url));
    this.file = path.join(ROOT, 'tests', 'stamps', own.replace(/\.mjs$/, '.json'));
    this.digest = digestOf([...contents, path.join('tests', own)], names);
    this.unchanged = !process.env.JARVIS_TESTS_FULL && this.digest in this.read();
    /** How each test ended. @type {Map<string, 'waiting' | 'failed' | 'passed'>} */
    this.tests = new Map();
    if (!this.unchanged) process.once('exit', () => this.write());
  }

  /**
   * Declares a test that is skipped while nothing it watches has changed.
   * @param {string} name
   * @param {() => void | Promise<void>} body
   */
  test(name, body) {
    this.tests.set(name, 'waiting');
    test(name, this.options, async () => {
      this.tests.set(name, 'failed');
      await body();
      this.tests.set(name, 'passed');
    });
  }

  /**
   * Declares such tests with what they share; their hooks rest when they do.
   * @param {string} name
   * @param {() => void} body
   */
  describe(name, body) {
    describe(name, this.options, body);
  }

  get options() {
    return { skip: this.unchanged && UNCHANGED };
  }

  /** @returns {Record<string, string[]>} tests that passed, by digest */
  read() {
    return existsSync(this.file) ? JSON.parse(readFileSync(this.file, 'utf8')) : {};
  }

  write() {
    const ends = [...this.tests.values()];
    if (ends.includes('failed')) return rmSync(this.file, { force: true });
    if (ends.includes('waiting')) return; // only some were asked for
    mkdirSync(path.dirname(this.file), { recursive: true });
    const stamp = { [this.digest]: [...this.tests.keys()].sort() };
    writeFileSync(this.file, `${JSON.stringify(stamp, null, 1)}\n`);
  }
}

/**
 * @param {string[]} contents files and folders, by what they hold
 * @param {string[]} names files and folders, by which files there are
 * @param {(file: string) => boolean} counts of the files in a folder
 */
export function digestOf(contents, names, counts = () => true) {
  const hash = createHash('sha256');
  const below = contents.flatMap((place) => {
    const files = filesBelow(place);
    return files.length === 1 && files[0] === place ? files : files.filter(counts);
  });
  for (const file of below) {
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
