// What a user sees and does in an editor: findings while typing, fixes and suppressions from the
// keyboard, the page of a rule, and the findings of files that are not open.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openWorkbench, until, writeFiles } from './workbench.mjs';

const GREET = `#include <stdio.h>
#include <string.h>

void greet(const char *name) {
  char line[16];

  puts(line);
}
`;
const OTHER = `#include <stdio.h>

void ask(void) {
  char line[16];
  gets(line);
}
`;

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  editor = await openWorkbench({ files: { 'greet.c': GREET, 'src/other.c': OTHER } });
});
after(() => editor.close());

test('a finding is under the code while it is typed, before anything is saved', async () => {
  await editor.open('greet.c');
  await editor.serverStarted();
  await editor.squigglesBecome(0);
  await editor.goTo(6);
  await editor.page.keyboard.type('  strcpy(line, name);');
  await editor.squiggles.first().waitFor();
  assert.equal(editor.read('greet.c'), GREET);
});

test('the Problems panel names the rule, also for a file that is not open', async () => {
  await editor.openProblems();
  await editor.problem('unbounded-string-copy').waitFor();
  await editor.problem('gets-call').waitFor();
  assert.equal(await editor.page.locator('.tab[data-resource-name="other.c"]').count(), 0);
});

test('the first quick fix rewrites the call; saved, it is on disk and the squiggle is gone', async () => {
  await editor.open('greet.c');
  await editor.goTo(6, 5);
  await editor.quickFix(/Limit the copy to the size of/);
  await editor.squigglesBecome(0);
  await editor.save();
  assert.match(editor.read('greet.c'), /snprintf\(line, sizeof\(?\s?line\)?, "%s", name\);/);
  await editor.openProblems();
  await until(
    'row gone',
    async () => (await editor.problem('unbounded-string-copy').count()) === 0,
  );
});

test('undo brings the finding back, and redo takes it away again', async () => {
  await editor.open('greet.c');
  await editor.page.keyboard.press('Control+Z');
  await editor.squiggles.first().waitFor();
  await editor.page.keyboard.press('Control+Shift+Z');
  await editor.squigglesBecome(0);
});

test('suppressing asks for a reason and keeps it with the code', async () => {
  await editor.open('src/other.c');
  await editor.squiggles.first().waitFor();
  await editor.goTo(5, 4);
  await editor.quickFix(/Suppress gets-call here/);
  await editor.answer('input comes from a test');
  await editor.squigglesBecome(0);
  await until('comment saved', () =>
    /jsec-ignore: gets-call input comes from a test/.test(editor.read('src/other.c')),
  );
});

test('a fix that changes behaviour is shown, and applied only when that is confirmed', async () => {
  writeFiles(editor.folder, { 'asked.c': OTHER });
  await editor.open('asked.c');
  await editor.squiggles.first().waitFor();
  await editor.goTo(5, 4);
  await editor.quickFix(/Replace with fgets \(changes behaviour\)/);
  const preview = editor.page.locator('#refactorPreview');
  await preview.getByText('strcspn').waitFor();
  assert.equal(editor.read('asked.c'), OTHER);
  await preview.locator('.edit-checkbox').first().check();
  await preview.getByRole('button', { name: 'Apply' }).click();
  await until('fix saved', async () => {
    await editor.page.keyboard.press('Control+S');
    return /if \(fgets\(line, sizeof\(line\), stdin\) != NULL\)\n {4}line\[/.test(
      editor.read('asked.c'),
    );
  });
});

test('the page of the rule under the cursor opens beside the code', async () => {
  writeFiles(editor.folder, { 'third.c': OTHER });
  await editor.open('third.c');
  await editor.squiggles.first().waitFor();
  await editor.goTo(5, 4);
  await editor.command('Jarvis: Explain Rule');
  await editor.webview.locator('h1, h2').first().waitFor();
  await editor.webview.locator('body', { hasText: /gets/ }).waitFor();
});

test('files that other programs write, change and delete are followed', async () => {
  const row = editor.problem('unbounded-string-copy');
  await editor.openProblems();
  writeFiles(editor.folder, {
    'new.c': GREET.replace('\n\n  puts', '\n  strcpy(line, name);\n  puts'),
  });
  await row.waitFor();
  rmSync(path.join(editor.folder, 'new.c'));
  await until('row gone', async () => (await row.count()) === 0);
});
