// Remembers what a step of the set-up was done for, so that a second run does no work twice.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * One hash over texts and the contents of files; a folder stands for all files below it.
 * @param {string[]} texts
 * @param {string[]} paths
 * @returns {string}
 */
export function fingerprint(texts, paths) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text}\0`);
  for (const file of paths.flatMap(filesBelow)) {
    hash
      .update(`${path.basename(file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} file where the stamp lies: inside what it vouches for, so that both go together
 * @param {string} key a fingerprint
 */
export function isCurrent(file, key) {
  return existsSync(file) && readFileSync(file, 'utf8') === key;
}

/**
 * @param {string} file
 * @param {string} key
 */
export function writeStamp(file, key) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, key);
}

/**
 * @param {string} entry
 * @returns {string[]}
 */
function filesBelow(entry) {
  if (!existsSync(entry)) return [];
  if (!statSync(entry).isDirectory()) return [entry];
  return readdirSync(entry, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => path.join(item.parentPath, item.name))
    .sort();
}
