// Modules of the page for tests that need no browser.

import path from 'node:path';
import esbuild from 'esbuild';

const SOURCES = path.resolve(import.meta.dirname, '..', '..', 'client-vscode', 'webview');

/**
 * @param {string} name of a module of the page, without its extension
 * @returns {Promise<any>} what it exports
 */
export async function load(name) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(SOURCES, `${name}.ts`)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
  });
  const source = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${source}`);
}
