// Evidence by execution in the workbench: a flaw of a small C program is proven from the light bulb,
// and everything that shows the finding says so.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorkbench, removed, until } from './workbench.mjs';

const PROGRAM = `#include <stdio.h>
#include <string.h>

static void copy(const char *text)
{
    char place[16];
    strcpy(place, text);
    puts(place);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        copy(argv[1]);
    return 0;
}
`;
const PICTURES = process.env.JARVIS_E2E_PICTURES;

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  editor = await openWorkbench({
    files: { 'a.c': PROGRAM, Makefile: 'all:\n\tcc a.c\n' },
    // The sandbox works as another user, who must be able to come to its files.
    env: { TMPDIR: tmpdir() },
  });
  await editor.open('a.c');
  await editor.serverStarted();
  await editor.squiggles.first().waitFor();
});
after(() => editor.close());

/** @param {string} name */
async function picture(name, shown = editor) {
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true });
    await shown.picture(path.join(PICTURES, `${name}.png`));
  }
}

test('with the cursor on no finding, as in the walkthrough, one is picked from a list', async () => {
  await editor.goTo(1);
  await editor.command('Jarvis: Prove by Running (Sandbox, Fuzzing)');
  await editor.quickInput.locator('.monaco-list-row', { hasText: 'a.c:7' }).waitFor();
  await picture('pick');
  await editor.pick('a.c:7');
  await editor.told('Reproduced: ');
});

test('the light bulb proves a finding, and a message says what was shown', async () => {
  await editor.openFindings();
  await editor.finding('a.c:7').waitFor();
  await editor.goTo(7, 8);
  await editor.quickFix(/Prove by running/);
  await editor.told('Reproduced: ');
  await picture('message');
});

test('the findings view names the evidence, speaks it, and filters by it', async () => {
  await editor.finding(/a\.c:7.*reproduced/).waitFor();
  await editor.labelBecomes(editor.finding('a.c:7').first(), /line 7, reproduced$/);
  await editor.command('Jarvis: Filter by Evidence…');
  for (const name of ['Reproduced', 'Not run']) {
    await editor.quickInput.locator('.monaco-list-row', { hasText: name }).click();
  }
  await editor.confirm();
  await until('it is hidden', async () => (await editor.finding('a.c:7').count()) === 0);
  await editor.command('Jarvis: Clear Filter');
  await editor.finding('a.c:7').waitFor();
});

test('hover and Problems say it, with the input', async () => {
  await editor.open('a.c');
  await editor.goTo(7, 8);
  await editor.page.keyboard.press('Control+K');
  await editor.page.keyboard.press('Control+I');
  await editor.page.locator('.monaco-hover', { hasText: 'Reproduced: ' }).first().waitFor();
  await picture('hover');
  await editor.openProblems();
  await editor.problem(/Evidence: reproduced\./).waitFor();
});

test('a test is shown before it is written', async () => {
  await editor.menu(editor.finding('a.c:7'), 'Save the Run as Regression Test…');
  const question = editor.toast('Write tests/jsec-');
  await question.waitFor();
  assert.ok(!existsSync(path.join(editor.folder, 'tests')));
  assert.equal(editor.read('Makefile'), 'all:\n\tcc a.c\n');
  await picture('test');
  await question.getByRole('button', { name: 'Write' }).click();
  await until('it is written', () => existsSync(path.join(editor.folder, 'tests')));
  await until('it is run by make', () => /tests\/jsec-/.test(editor.read('Makefile')));
  await editor.tab('run.sh').waitFor(); // that which was written: the preview has been closed
});

describe('a machine without a compiler', () => {
  const programs = mkdtempSync(path.join(tmpdir(), 'jls-programs-'));
  /** @type {import('./workbench.mjs').Workbench} */
  let bare;
  before(async () => {
    for (const name of readdirSync('/usr/bin')) {
      if (!/(^|-)(cc|gcc|g\+\+|c\+\+|clang|tcc)|^c[89]9/.test(name)) {
        symlinkSync(path.join('/usr/bin', name), path.join(programs, name));
      }
    }
    bare = await openWorkbench({ files: { 'a.c': PROGRAM }, env: { PATH: programs } });
    await bare.open('a.c');
    await bare.squiggles.first().waitFor();
  });
  after(async () => {
    await bare?.close();
    await removed(programs);
  });

  test('is told what to install', async () => {
    await bare.goTo(7, 8);
    await bare.quickFix(/Prove by running/);
    await bare.toast('install gcc').waitFor();
    await picture('no-compiler', bare);
  });
});
