// The extension of this checkout, laid out in a folder of its own for a workbench that runs from
// `.vscode-host`. The checkout itself will not do there: an editor takes everything below the folder
// of an extension under development for that extension, also its own themes in `.vscode-host`.

import { cpSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../process.mjs';

/** What the editor loads. These are copies: it asks the real path which extension a file is of. */
const COPIED = [
  ...['package.json', 'package.nls.json', 'package.nls.zh-cn.json', 'l10n', 'media'],
  ...['bundled/tool', 'client-vscode/out'],
];

/** What only Python loads: the server and its environment. */
const LINKED = ['server', '.venv'];

/**
 * @param {string} folder emptied first
 * @param {{server?: boolean}} [options] server: false leaves out what the server needs
 * @returns {string} the folder
 */
export function layOutExtension(folder, { server = true } = {}) {
  rmSync(folder, { recursive: true, force: true });
  for (const part of COPIED) {
    cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true });
  }
  for (const part of server ? LINKED : []) {
    symlinkSync(path.join(ROOT, part), path.join(folder, part), 'junction');
  }
  return folder;
}
