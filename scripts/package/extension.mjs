// The extension as a .vsix for one platform. Only what it is made of is laid into a clean folder and
// packed there, so that no file of the checkout can slip in.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ROOT, step } from '../process.mjs';
import { BUNDLE, PACKAGES, PAGE } from '../setup/client.mjs';
import { venv } from '../setup/python.mjs';

/** Time of every entry: 1 January 2020 unless SOURCE_DATE_EPOCH says otherwise, as in the wheel. */
const EPOCH = process.env.SOURCE_DATE_EPOCH ?? '1577836800';

/** Taken when present, files and whole folders. */
const CONTENTS = ['README.md', 'CHANGELOG.md', 'LICENSE', 'l10n', 'bundled/tool', 'media'];

/**
 * @param {string} target VS Code's name of the platform
 * @param {string} libraries the folder that becomes bundled/libs
 * @param {string} dist where the .vsix is laid
 * @returns {Promise<string>} its path; beside it lies its SBOM
 */
export async function buildExtension(target, libraries, dist) {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const stage = path.join(dist, 'extension', target);
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });

  const translations = readdirSync(ROOT).filter((name) => /^package\.nls(\..+)?\.json$/.test(name));
  const built = [BUNDLE, PAGE].map((file) => path.relative(ROOT, file));
  for (const entry of [...CONTENTS, ...translations, ...built]) {
    copy(path.join(ROOT, entry), path.join(stage, entry));
  }
  copy(libraries, path.join(stage, 'bundled', 'libs'));
  writeFileSync(
    path.join(stage, 'package.json'),
    `${JSON.stringify(published(manifest), null, 2)}\n`,
  );

  await step(`SBOM and licences for ${target}`, venv('python'), [
    path.join(import.meta.dirname, 'bill.py'),
    ...[manifest.version, target, path.join(stage, 'bundled', 'libs'), PACKAGES, stage],
  ]);
  makeModesEqual(stage);

  const name = `jarvis-ls-${target}-${manifest.version}`;
  const file = path.join(dist, `${name}.vsix`);
  const vsce = path.join(ROOT, 'node_modules', '@vscode', 'vsce', 'vsce');
  await step(
    `Extension for ${target}`,
    process.execPath,
    [
      ...[vsce, 'package', '--no-dependencies', '--skip-license', '--allow-missing-repository'],
      // Every file of thousands would be searched for keys; the libraries hold examples of some.
      ...['--allow-package-all-secrets', '--allow-package-env-file'],
      ...['--no-rewrite-relative-links', '--target', target, '--out', file],
    ],
    // Entries are sorted and dated by this; times of a zip are local, names are sorted by locale.
    { cwd: stage, env: { ...process.env, SOURCE_DATE_EPOCH: EPOCH, TZ: 'UTC', LC_ALL: 'C.UTF-8' } },
  );
  cpSync(path.join(stage, 'sbom.cdx.json'), path.join(dist, `${name}.cdx.json`));
  return file;
}

/**
 * The manifest without what only a checkout needs.
 * @param {Record<string, unknown>} manifest
 */
function published({ scripts, devDependencies, private: _, ...rest }) {
  return rest;
}

/**
 * @param {string} from
 * @param {string} to
 */
function copy(from, to) {
  if (!existsSync(from)) return;
  cpSync(from, to, {
    recursive: true,
    filter: (file) => path.basename(file) !== '__pycache__' && !file.endsWith('.map'),
  });
}

/**
 * Modes do not depend on the umask of who checked out: what is executable stays so for everybody.
 * @param {string} folder
 */
function makeModesEqual(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const isProgram = entry.isDirectory() || (statSync(file).mode & 0o100) !== 0;
    chmodSync(file, isProgram ? 0o755 : 0o644);
  }
}
