// Scanning a whole workspace on request: progress the user can read, a Cancel button that stops the
// work, and a result in one sentence.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorkbench } from './workbench.mjs';

const FILES = 400;
const FUNCTIONS = 12;

/** A file that takes a moment to analyse and has one finding. */
function program(/** @type {number} */ number) {
  const functions = Array.from(
    { length: FUNCTIONS },
    (_, index) => `static int f${number}_${index}(int a, const char *s) {
  int total = 0;
  for (int i = 0; i < a; i++) { total += s[i] ? i * ${index} : -1; }
  return total;
}
`,
  );
  const main = `int main${number}(void) { char line[8]; gets(line); return f${number}_0(1, line); }\n`;
  return `#include <stdio.h>\n${functions.join('')}${main}`;
}

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  /** @type {Record<string, string>} */
  const files = {};
  for (let number = 0; number < FILES; number++) {
    files[`part${number % 10}/file${number}.c`] = program(number);
  }
  editor = await openWorkbench({ files, settings: { 'jarvisLs.workspaceScan': false } });
  await editor.serverStarted();
});
after(() => editor.close());

test('cancelling stops the scan; what was found stays', async () => {
  await editor.command('Jarvis: Scan Workspace for Security Vulnerabilities');
  const progress = editor.toast('Scanning the workspace');
  await progress.waitFor();
  await progress.hover();
  await progress.getByRole('button', { name: 'Cancel' }).click();
  const result = editor.toast(/Scan cancelled after \d+ files/);
  await result.waitFor();
  const [, files] = (await result.innerText()).match(/after (\d+) files/) ?? [];
  assert.ok(Number(files) < FILES, `${files} files were scanned`);
  await result.getByRole('button', { name: /Clear Notification/ }).click();
});

test('when the server ends meanwhile, the user is told in plain words', async () => {
  const pid = await editor.serverStarted();
  await editor.command('Jarvis: Scan Workspace for Security Vulnerabilities');
  await editor.toast('Scanning the workspace').waitFor();
  process.kill(pid, 'SIGKILL');
  const told = editor.toast('The language server stopped before it finished');
  await told.waitFor();
  await editor.serverStarted(2);
  await told.getByRole('button', { name: /Clear Notification/ }).click();
});

test('the next scan goes to the end and says what it found', async () => {
  await editor.command('Jarvis: Scan Workspace for Security Vulnerabilities');
  await editor.toast('Scanning the workspace').waitFor();
  const result = editor.toast(`Scanned ${FILES} files`);
  await result.waitFor();
  assert.match(await result.innerText(), new RegExp(`${FILES} findings`));
  await result.getByRole('button', { name: 'Show Findings' }).click();
  await editor
    .finding(/^(High|Medium|Low)/)
    .first()
    .waitFor();
  await editor.status.filter({ hasText: `${FILES} findings` }).waitFor();
});
