// Workspaces of other shapes: one the user does not trust, one with several folders, file names with
// characters that are written differently in addresses.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorkbench, until } from './workbench.mjs';

const ASKS = `#include <stdio.h>

void ask(void) {
  char line[16];
  gets(line);
}
`;

describe('a workspace that is not trusted', () => {
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-trust-'));
  const marker = path.join(folder, 'was-run');

  before(async () => {
    const program = path.join(folder, 'python');
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\n`);
    chmodSync(program, 0o755);
    const hostile = { 'jarvisLs.interpreter': program, 'jarvisLs.enable': false };
    editor = await openWorkbench({
      files: { 'ask.c': ASKS, '.vscode/settings.json': JSON.stringify(hostile) },
      settings: {
        'security.workspace.trust.enabled': true,
        'security.workspace.trust.startupPrompt': 'never',
      },
    });
  });
  after(async () => {
    await editor.close();
    rmSync(folder, { recursive: true });
  });

  test('findings are shown; its settings choose no program and hide nothing', async () => {
    await editor.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await editor.open('ask.c');
    await editor.squiggles.first().waitFor();
    assert.equal(existsSync(marker), false);
  });

  test('nothing that runs the project is offered, and the command says why', async () => {
    await editor.goTo(5, 4);
    await editor.page.keyboard.press('Control+.');
    const offered = editor.page.locator('.action-widget .monaco-list-row');
    await offered.filter({ hasText: 'Suppress' }).first().waitFor();
    const titles = await offered.allInnerTexts();
    const running = titles.filter((title) => /Prove|Verify|Fix with Jarvis/.test(title));
    assert.deepEqual(running, []);
    await editor.page.keyboard.press('Escape');
    await editor.command('Jarvis: Prove by Running (Sandbox, Fuzzing)');
    await editor.toast('trust').waitFor();
  });

  test('once trusted, its settings count', async () => {
    await editor.command('Workspaces: Manage Workspace Trust');
    await editor.page.getByRole('button', { name: 'Trust', exact: true }).click();
    await until('its interpreter is tried', () => existsSync(marker));
    await editor.toast('not a Python interpreter').waitFor();
  });
});

describe('several folders', () => {
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  before(async () => {
    editor = await openWorkbench({
      folders: ['client', 'server'],
      files: { 'client/ask.c': ASKS, 'server/a+b (1) @ü 文.c': ASKS },
    });
    await editor.serverStarted();
  });
  after(() => editor.close());

  test('the findings of all of them are listed, each once', async () => {
    await editor.openFindings();
    await editor.finding('ask.c:5').waitFor();
    await editor.finding('a+b (1) @ü 文.c:5').waitFor();
    assert.equal(await editor.finding('.c:').count(), 2);
  });

  test('opening a file with an unusual name does not list its finding twice', async () => {
    const name = 'a+b (1) @ü 文.c';
    await editor.click(editor.finding(`${name}:5`), editor.tab(name));
    await editor.squiggles.first().waitFor();
    await editor.page.locator('.editor-instance .monaco-editor').first().click();
    await editor.goTo(1, 1);
    await editor.page.keyboard.press('Enter');
    await editor.finding(`${name}:6`).waitFor();
    assert.equal(await editor.finding('.c:').count(), 2);
    await editor.page.keyboard.press('Control+Z');
    await editor.finding(`${name}:5`).waitFor();
    assert.equal(await editor.finding('.c:').count(), 2);
    await editor.openProblems();
    await until('two rows', async () => (await editor.problem('gets-call').count()) === 2);
  });
});
