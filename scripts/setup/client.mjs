// The client: its npm packages and the bundle VS Code loads.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { npm, ROOT, step, TaskError } from '../process.mjs';
import { fingerprint, isCurrent, writeStamp } from './stamp.mjs';

const MODULES = path.join(ROOT, 'node_modules');
const SOURCES = path.join(ROOT, 'client-vscode', 'src');
export const BUNDLE = path.join(ROOT, 'client-vscode', 'out', 'extension.js');

/** @type {import('esbuild').BuildOptions} */
const OPTIONS = {
  entryPoints: [path.join(SOURCES, 'extension.ts')],
  outfile: BUNDLE,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};

/** Installs exactly what package-lock.json names; does nothing when that is there already. */
export async function setUpPackages() {
  const stamp = path.join(MODULES, '.jarvis-set-up');
  const key = fingerprint([], [path.join(ROOT, 'package-lock.json')]);
  if (isCurrent(stamp, key)) return;
  const [command, leading] = npm();
  await step('Client packages: npm ci', command, [...leading, 'ci', '--loglevel=error']);
  writeStamp(stamp, key);
}

/** Bundles the extension into one file; does nothing when its sources are unchanged. */
export async function buildClient() {
  const stamp = path.join(path.dirname(BUNDLE), '.jarvis-built');
  const own = path.join(import.meta.dirname, 'client.mjs');
  const key = fingerprint([], [own, path.join(ROOT, 'package-lock.json'), SOURCES]);
  if (existsSync(BUNDLE) && isCurrent(stamp, key)) return;
  const began = performance.now();
  // Loaded here: a fresh clone has no packages when this script starts.
  const esbuild = await import('esbuild');
  await esbuild.build(OPTIONS).catch(() => {
    throw new TaskError('Client: could not be built; the reason is above');
  });
  writeStamp(stamp, key);
  console.log(`Client: built (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}
