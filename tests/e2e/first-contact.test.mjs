// The first minutes of a newcomer: what opens by itself, what obvious words in the palette lead to,
// and what a click above a function lists.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorkbench, until } from './workbench.mjs';

const FREES = `#include <stdlib.h>

void drop(char *memory) {
  free(memory);
  free(memory);
  free(memory);
}
`;

/** @type {import('./workbench.mjs').Workbench} */
let editor;

before(async () => {
  editor = await openWorkbench({
    files: { 'memory.c': FREES },
    settings: { 'workbench.startupEditor': 'welcomePageInEmptyWorkbench' },
  });
  await editor.serverStarted();
});
after(() => editor.close());

test('the walkthrough and the findings view open by themselves, once', async () => {
  const step = (/** @type {string} */ title) =>
    editor.page.locator('.getting-started-step', { hasText: title });
  for (const title of [
    'Scan your code',
    'Prove and fix',
    'Work with agents',
    'Migrate C to Rust',
  ]) {
    await step(title).first().waitFor();
  }
  const done = step('Fix or suppress').locator('.codicon-getting-started-step-checked');
  assert.equal(await done.count(), 0, 'nothing was done yet');
  await editor.finding('memory.c:5').waitFor();
  await editor.page.reload();
  await editor.serverStarted(2);
  await editor.status.filter({ hasText: '2 findings' }).waitFor();
  assert.equal(editor.log().match(/Welcome: the walkthrough is opened/g)?.length, 1);
});

test('the obvious words lead to the obvious command', async () => {
  for (const [words, title] of [
    ['show findings', 'Show Findings'],
    ['scan', 'Scan Workspace for Security Vulnerabilities'],
    ['security', 'Scan Workspace for Security Vulnerabilities'],
    ['findings', 'Focus on Findings View'],
    ['translate', 'Translate Project to Rust (Convert, Transpile)'],
    ['agent', 'Change Code with an Agent…'],
    ['open chat', 'Open Chat'],
    ['prove', 'Prove by Running (Sandbox, Fuzzing)'],
    ['suppress', 'Suppress (Ignore)…'],
    ['ignore', 'Suppress (Ignore)…'],
    ['import', 'Import SARIF…'],
    ['model', 'Set Up a Model'],
    ['migrate', 'List Functions to Migrate to Rust'],
    ['walkthrough', 'Get Started (Help, Walkthrough)'],
    ['help', 'Get Started (Help, Walkthrough)'],
    ['vulnerab', 'Scan Workspace for Security Vulnerabilities'],
    ['fuzz', 'Prove by Running (Sandbox, Fuzzing)'],
    ['convert', 'Translate Project to Rust (Convert, Transpile)'],
    ['log', 'Show Output (Log)'],
  ]) {
    await editor.firstCommand(`jarvis: ${words}`, `Jarvis: ${title}`);
  }
});

test('a click above a function lists its findings in place', async () => {
  await editor.open('memory.c');
  const lens = editor.page.locator('.codelens-decoration a', { hasText: '2 findings' });
  const peek = editor.page.locator('.peekview-widget');
  await editor.click(lens, peek);
  await until('both are listed', async () => {
    return (await peek.locator('.referenceMatch').count()) === 2;
  });
  assert.match(await peek.locator('.head').innerText(), /memory\.c/);
});
