// The server's life as the user notices it: it comes back after a crash, is restarted by hand, gives
// up after crashing again and again, and says what to do when there is no Python.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { layOutExtension } from '../../scripts/setup/development-extension.mjs';
import { openWorkbench, ROOT, until } from './workbench.mjs';

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

/** The Python of the checkout, which knows our libraries. */
const OURS = path.join(ROOT, '.venv', 'bin', 'python');

/**
 * A Python that tells its version, and does something else before it becomes the server.
 * @param {string} folder
 * @param {string[]} first lines of the shell
 */
function pythonThat(folder, ...first) {
  const program = path.join(folder, 'python');
  const lines = ['#!/bin/sh', `case "$*" in *' -c '*) exec ${OURS} "$@";; esac`, ...first];
  writeFileSync(program, [...lines, `exec ${OURS} "$@"`].join('\n'), { mode: 0o755 });
  return { 'jarvisLs.interpreter': program };
}

describe('a server that is late', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-slow-'));
  after(() => rmSync(folder, { recursive: true }));

  test('one that hangs at its start is told of, and another takes its place', async () => {
    const hung = path.join(folder, 'hung');
    const hangs = `[ -e ${hung} ] || { echo $$ >${hung}; exec sleep 600; }`;
    const settings = pythonThat(folder, hangs);
    const editor = await openWorkbench({ files: { 'ask.c': ASKS }, settings });
    try {
      await editor.open('ask.c');
      const toast = editor.toast('has not answered for 30 seconds');
      await toast.getByRole('button', { name: 'Restart Server' }).click();
      await editor.serverStarted();
      await editor.squigglesBecome(1);
      assert.ok(!isAlive(Number(readFileSync(hung, 'utf8'))));
      assert.equal(await editor.toast('did not start').count(), 0);
    } finally {
      await editor.close();
    }
  });

  test('one that is slow after a crash is not doubled by a restart', async () => {
    const slow = path.join(folder, 'slow');
    // It is noted once it is clear that it hangs: until then the test must not take the mark away.
    const hangs = `[ -e ${slow}.down ] && { echo $$ >>${slow}; exec sleep 600; }`;
    const settings = pythonThat(folder, hangs, `echo $$ >>${slow}`);
    const editor = await openWorkbench({ files: { 'ask.c': ASKS }, settings });
    try {
      await editor.open('ask.c');
      const first = await editor.serverStarted();
      writeFileSync(`${slow}.down`, '');
      process.kill(first, 'SIGKILL');
      const started = () => readFileSync(slow, 'utf8').trim().split('\n').map(Number);
      await until('the server is started again', () => started().length === 2);
      rmSync(`${slow}.down`);
      await editor.command('Jarvis: Restart Server');
      const now = await editor.serverStarted(2);
      await editor.squigglesBecome(1);
      assert.deepEqual(started().filter(isAlive), [now]);
    } finally {
      await editor.close();
    }
  });
});

test('a folder is scanned whose files the search of the editor does not find in time', async () => {
  // What is left out of the search is as unknown to the editor as what it has not found after 7 s.
  const settings = { 'files.exclude': { '**/*.c': true } };
  const files = { 'CMakeLists.txt': 'project(ask C)\n', 'src/ask.c': ASKS };
  const editor = await openWorkbench({ files, settings });
  try {
    await editor.serverStarted();
    await editor.status.filter({ hasText: '1 finding' }).waitFor();
  } finally {
    await editor.close();
  }
});

test('the reason is shown also when it is written after the connection has closed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'jls-late-'));
  const program = path.join(folder, 'python');
  const lines = [
    '#!/bin/sh',
    `case "$*" in *' -c '*) exec ${PYTHON} "$@";; esac`,
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
