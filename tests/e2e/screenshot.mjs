// node tests/e2e/screenshot.mjs: takes media/screenshot.png, the picture of the README, from a real
// workbench on the C project of tests/workspaces.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, task } from '../../scripts/process.mjs';
import { buildClient, setUpPackages } from '../../scripts/setup/client.mjs';
import { setUpPython } from '../../scripts/setup/python.mjs';
import { requireTools, TOOLS } from '../../scripts/setup/tools.mjs';
import { installHost } from '../../scripts/setup/vscode-host.mjs';
import { openWorkbench } from './workbench.mjs';

const PROJECT = path.join(ROOT, 'tests', 'workspaces', 'inventory');
const PICTURE = path.join(ROOT, 'media', 'screenshot.png');
/** A finding worth showing, by the text of its line. */
const SHOWN = { file: 'src/store.c', text: 'article->name, article->note' };

await task(async () => {
  await setUpPython();
  await setUpPackages();
  await buildClient();
  await requireTools(TOOLS.test);
  await installHost();
  const files = Object.fromEntries(sources().map((name) => [name, read(name)]));
  const editor = await openWorkbench({ files, settings: { 'editor.fontSize': 13 } });
  try {
    await editor.page.setViewportSize({ width: 1280, height: 760 });
    await editor.openFindings();
    await editor.finding('store.c').first().waitFor();
    await editor.open(SHOWN.file);
    await editor.squiggles.first().waitFor();
    const line =
      read(SHOWN.file)
        .split('\n')
        .findIndex((text) => text.includes(SHOWN.text)) + 1;
    await editor.goTo(line, read(SHOWN.file).split('\n')[line - 1]?.indexOf('->note') ?? 1);
    await editor.command('Show or Focus Hover');
    await editor.page.locator('.monaco-hover:visible').first().waitFor();
    await editor.picture(PICTURE);
  } finally {
    await editor.close();
  }
  console.log(path.relative(ROOT, PICTURE));
});

function sources() {
  return readdirSync(PROJECT, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.[ch]$|Makefile$|\.md$/.test(name) && !name.startsWith('.jarvis'),
  );
}

/** @param {string} name */
function read(name) {
  return readFileSync(path.join(PROJECT, name), 'utf8');
}
