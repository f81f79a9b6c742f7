// The client: its npm packages, the bundle VS Code loads, and the page of the side panel.

import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { npm, ROOT, step, TaskError } from '../process.mjs';
import { fingerprint, isCurrent, writeStamp } from './stamp.mjs';

const MODULES = path.join(ROOT, 'node_modules');
const CLIENT = path.join(ROOT, 'client-vscode');
const SOURCES = path.join(CLIENT, 'src');
const PAGE_SOURCES = path.join(CLIENT, 'webview');
const OUT = path.join(CLIENT, 'out');
export const BUNDLE = path.join(OUT, 'extension.js');
/** Name, version and licence of every package whose code is in the bundles. */
export const PACKAGES = path.join(OUT, 'packages.json');
/** What our pages load: scripts, styles and the editor's own icons. */
export const PAGE = path.join(OUT, 'webview');

/** The only packages whose scripts run when they are installed: each makes its program executable. */
export const WITH_SCRIPTS = [
  '@microsoft/sarif-multitool-linux',
  '@microsoft/sarif-multitool-darwin',
];

/** @type {import('esbuild').BuildOptions} */
const SHARED = { bundle: true, sourcemap: true, sourcesContent: false, logLevel: 'warning' };

/** @type {import('esbuild').BuildOptions} */
const EXTENSION = {
  ...SHARED,
  entryPoints: [path.join(SOURCES, 'extension.ts')],
  outfile: BUNDLE,
  platform: 'node',
  format: 'cjs',
  minify: true,
  keepNames: true, // the log and reports of errors name classes and functions
  target: 'node20',
  external: ['vscode'],
};

/** @type {import('esbuild').BuildOptions} */
const PAGE_OPTIONS = {
  ...SHARED,
  entryPoints: [
    { in: path.join(PAGE_SOURCES, 'main.ts'), out: 'panel' },
    { in: path.join(PAGE_SOURCES, 'styles', 'panel.css'), out: 'panel' },
    { in: path.join(PAGE_SOURCES, 'migration', 'main.ts'), out: 'migration' },
    { in: path.join(PAGE_SOURCES, 'styles', 'migration.css'), out: 'migration' },
  ],
  outdir: PAGE,
  platform: 'browser',
  format: 'esm',
  target: 'chrome128',
  minify: true,
  external: ['*.ttf'],
};

/** Installs exactly what package-lock.json names; does nothing when that is there already. */
export async function setUpPackages() {
  const stamp = path.join(MODULES, '.jarvis-set-up');
  const key = fingerprint([], [path.join(ROOT, 'package-lock.json')]);
  if (isCurrent(stamp, key)) return;
  const [command, leading] = npm();
  await step('Client packages: npm ci', command, [...leading, 'ci', '--loglevel=error']);
  const allowed = WITH_SCRIPTS.filter((name) => existsSync(path.join(MODULES, name)));
  if (allowed.length > 0) {
    await step(`Client packages: scripts of ${allowed.join(', ')}`, command, [
      ...[...leading, 'rebuild', '--ignore-scripts=false', '--loglevel=error', ...allowed],
    ]);
  }
  writeStamp(stamp, key);
}

/** Bundles the extension and its page; does nothing when their sources are unchanged. */
export async function buildClient() {
  const stamp = path.join(OUT, '.jarvis-built');
  const own = path.join(import.meta.dirname, 'client.mjs');
  const lock = path.join(ROOT, 'package-lock.json');
  const key = fingerprint([], [own, lock, SOURCES, PAGE_SOURCES]);
  if (existsSync(BUNDLE) && existsSync(PAGE) && isCurrent(stamp, key)) return;
  const began = performance.now();
  // Loaded here: a fresh clone has no packages when this script starts.
  const esbuild = await import('esbuild');
  const built = await Promise.all([
    esbuild.build({ ...EXTENSION, metafile: true }),
    esbuild.build({ ...PAGE_OPTIONS, metafile: true }),
  ]).catch(() => {
    throw new TaskError('Client: could not be built; the reason is above');
  });
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
  writeFileSync(PACKAGES, `${JSON.stringify(packagesOf(inputs), null, 2)}\n`);
  const icons = path.join(MODULES, '@vscode', 'codicons', 'dist');
  for (const file of ['codicon.css', 'codicon.ttf']) {
    copyFileSync(path.join(icons, file), path.join(PAGE, file));
  }
  writeStamp(stamp, key);
  console.log(`Client: built (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}

/**
 * The packages that files lie in; the icons are copied, not bundled.
 * @param {string[]} inputs
 */
function packagesOf(inputs) {
  const names = inputs.flatMap((file) => {
    const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set([...names, '@vscode/codicons'])].sort().map((name) => {
    const file = path.join(MODULES, name, 'package.json');
    const { version, license } = JSON.parse(readFileSync(file, 'utf8'));
    return { name, version, license: license ?? '' };
  });
}
