// The server's life as the user notices it: it comes back after a crash, is restarted by hand, gives
// up after crashing again and again, and says what to do when there is no Python.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { layOutExtension } from '../../scripts/setup/development-extension.mjs';
import { openWorkbench, until } from './workbench.mjs';

/** Any Python that is new enough; it does not know our libraries. */
const PYTHON = '/usr/bin/python3';

const ASKS = `#include <stdio.h>

void ask(void) {
  char line[16];
  gets(line);

}
`;

describe('a server that ends', () => {
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  before(async () => {
    editor = await openWorkbench({ files: { 'ask.c': ASKS } });
    await editor.open('ask.c');
    await editor.squiggles.first().waitFor();
  });
  after(() => editor.close());

  test('killed, it is there again by itself and knows the unsaved text', async () => {
    const pid = await editor.serverStarted();
    await editor.goTo(6);
    await editor.page.keyboard.type('  gets(line);\n');
    await until('two squiggles', async () => (await editor.squiggles.count()) >= 2);
    process.kill(pid, 'SIGKILL');
    const next = await editor.serverStarted(2);
    assert.notEqual(next, pid);
    await editor.page.keyboard.type('gets(line);\n');
    await until('three squiggles', async () => (await editor.squiggles.count()) >= 3);
    assert.equal(await editor.page.locator('.notification-toast').count(), 0);
  });

  test('the restart command starts a new one', async () => {
    const pid = await editor.serverStarted(2);
    await editor.command('Jarvis: Restart Server');
    assert.notEqual(await editor.serverStarted(3), pid);
    await until('old process gone', () => !isAlive(pid));
    await until('squiggles again', async () => (await editor.squiggles.count()) >= 3);
  });

  test('crashing again and again, it stays down, says so, and a click restarts it', async () => {
    for (let starts = 3; starts <= 7; starts++) {
      process.kill(await editor.serverStarted(starts), 'SIGKILL');
    }
    await editor.toast('crashed repeatedly').waitFor();
    await editor
      .toast('crashed repeatedly')
      .getByRole('button', { name: 'Restart Server' })
      .click();
    await editor.serverStarted(8);
    await until('squiggles again', async () => (await editor.squiggles.count()) >= 3);
  });
});

describe('no server', () => {
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-bare-'));
  before(async () => {
    const empty = path.join(folder, 'no-programs');
    mkdirSync(empty);
    const extension = layOutExtension(path.join(folder, 'extension'), { server: false });
    editor = await openWorkbench({ files: { 'ask.c': ASKS }, extension, env: { PATH: empty } });
  });
  after(async () => {
    await editor.close();
    rmSync(folder, { recursive: true });
  });

  test('without Python the user reads what is missing and where to set it', async () => {
    const toast = editor.toast('found no Python 3.10 or newer');
    await toast.waitFor();
    assert.match(await toast.innerText(), /jarvisLs\.interpreter/);
    await editor.status.filter({ hasText: 'no Python' }).waitFor();
    await editor.openFindings();
    await editor.findings.getByText('Jarvis needs Python 3.10 or newer').waitFor();
    await editor.findings.getByRole('button', { name: 'Choose Interpreter' }).click();
  });

  test('an interpreter that will not do is refused while it is typed', async () => {
    await editor.quickInput.locator('input.input').fill('/bin/true');
    await editor.quickInput.getByText('not a Python interpreter').waitFor();
  });

  test('a Python that lacks the libraries: the reason Python gives is shown', async () => {
    await editor.answer(PYTHON);
    await editor.told("did not start: ModuleNotFoundError: No module named 'jarvis_ls'");
    await editor.status.filter({ hasText: 'stopped' }).waitFor();
  });
});

test('the reason is shown also when it is written after the connection has closed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-late-'));
  const program = path.join(folder, 'python');
  const lines = [
    '#!/bin/sh',
    `case "$*" in *-c*) exec ${PYTHON} "$@";; esac`,
    'exec 0<&- 1>&-',
    'sleep 0.5',
    'echo "MemoryError: no room" >&2',
    'exit 1',
  ];
  writeFileSync(program, lines.join('\n'), { mode: 0o755 });
  const settings = { 'jarvisLs.interpreter': program };
  const editor = await openWorkbench({ files: { 'ask.c': ASKS }, settings });
  try {
    await editor.told('did not start: MemoryError: no room');
  } finally {
    await editor.close();
    rmSync(folder, { recursive: true });
  }
});

test('a list in place of a path, as other extensions have it, is named', async () => {
  const settings = { 'jarvisLs.interpreter': ['/usr/bin/python3'] };
  const editor = await openWorkbench({ files: { 'ask.c': ASKS }, settings });
  try {
    const toast = editor.toast('found no Python 3.10 or newer');
    await toast.waitFor();
    assert.match(await toast.innerText(), /\["\/usr\/bin\/python3"\] \(not an absolute path\)/);
  } finally {
    await editor.close();
  }
});

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
