// A change is reviewed in the workbench; a scripted model answers the reviewers over HTTP.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorkbench, removed } from './workbench.mjs';

const PICTURES = process.env.JARVIS_E2E_PICTURES;

describe('review of a change', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  before(async () => {
    editor = await openWorkbench({
      files: { 'tool.py': 'x = 1\n', 'a.c': 'int f(int a) { return a; }\n' },
      env: { TMPDIR: tmpdir(), JARVIS_HOME: home },
    });
    const git = (/** @type {string[]} */ ...words) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...words], {
        cwd: editor.folder,
      });
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '-m', 'first');
    writeFileSync(path.join(editor.folder, 'tool.py'), 'x = 1\nbreakpoint()\n');
  });
  after(async () => {
    await editor?.close();
    await removed(home);
  });

  test('its issues are problems, and one that is dismissed goes', async () => {
    await editor.open('tool.py');
    await editor.command('Jarvis: Review Changes');
    await editor.pick('Files on diskwithout a model');
    await editor.toast('Files reviewed: 1').waitFor({ timeout: 120_000 });
    const squiggle = editor.page.locator('.squiggly-warning');
    await squiggle.first().waitFor();
    if (PICTURES) {
      mkdirSync(PICTURES, { recursive: true });
      await editor.picture(path.join(PICTURES, 'review.png'));
    }
    await editor.page.getByRole('button', { name: 'Show Problems' }).click();
    const problems = editor.page.locator('.markers-panel');
    await problems.getByText('debugger-left').first().waitFor();
    await editor.goTo(2, 3);
    await editor.quickFix(/Accept debugger-left/);
    await problems.getByText('(accepted)').first().waitFor();
    if (PICTURES) {
      await editor.picture(path.join(PICTURES, 'review-accepted.png'));
    }
    await editor.goTo(2, 3);
    await editor.quickFix(/Dismiss debugger-left/);
    await editor.answer('It is a tool for debugging.');
    await squiggle.first().waitFor({ state: 'detached' });
  });
});
