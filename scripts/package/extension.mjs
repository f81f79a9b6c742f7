// The extension as a .vsix for one platform. Only what it is made of is laid into a clean folder and
// packed there, so that no file of the checkout can slip in.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ROOT, step } from '../process.mjs';
import { BUNDLE, PAGE } from '../setup/client.mjs';

/** Taken when present, files and whole folders. */
const CONTENTS = ['README.md', 'CHANGELOG.md', 'LICENSE', 'l10n', 'bundled/tool', 'media'];

/**
 * @param {string} target VS Code's name of the platform
 * @param {string} libraries the folder that becomes bundled/libs
 * @param {string} dist where the .vsix is laid
 * @returns {Promise<string>} its path
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

  const file = path.join(dist, `jarvis-ls-${target}-${manifest.version}.vsix`);
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
    { cwd: stage },
  );
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
