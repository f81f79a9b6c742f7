// Moving C to Rust in a real workbench: the project from the palette, the view, C beside Rust, what
// stays in C as a row and as a problem, the overview with its graph, stop and resume, no trust, and
// Chinese. Compilers are real: cargo and a C compiler must be there.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { capture } from '../../scripts/process.mjs';
import { Stamp } from '../support/stamps.mjs';
import { openWorkbench, TOOLCHAIN, until, violations } from './workbench.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const stamp = new Stamp(import.meta.url, {
  contents: [
    ...['jc2r', 'lsp', 'codeintel', 'core'].map((part) => `server/jarvis_ls/${part}`),
    ...['client-vscode', 'package.json', 'l10n', 'requirements.lock', 'tests/e2e/workbench.mjs'],
  ],
});
/** Where pictures go, when someone wants to look at them. */
const PICTURES = process.env.JARVIS_MIGRATION_PICTURES;
const MAIN = `#include <stdio.h>
#include "sums.h"

static int twice(int x)
{
    return 2 * x;
}

int main(void)
{
    printf("%d\\n", twice(sum(3)) + fence(7));
    return 0;
}
`;
const SUMS = `#include "sums.h"

int sum(int n)
{
    return n ? n + sum(n - 1) : 0;
}

int fence(int n)
{
    jmp_buf place;
    return setjmp(place) ? 0 : n;
}
`;
const PROJECT = {
  'main.c': MAIN,
  'sums.c': SUMS,
  'sums.h': '#include <setjmp.h>\nint sum(int n);\nint fence(int n);\n',
};
const MANY = Array.from(
  { length: 4000 },
  (_, n) => `int f${n}(int x) { return x * ${n} + (x >> 3); }\n`,
).join('');

/** @param {import('./workbench.mjs').Options} [options] */
async function openProject(options = {}) {
  // rustup's cargo is there without a toolchain for this home, too; then it says so.
  const env = { ...process.env, ...TOOLCHAIN };
  const cargo = await capture('cargo', ['--version'], { env }).catch((error) => ({
    status: 1,
    stderr: String(error),
  }));
  const advice = 'install Rust, or the Debian packages cargo-web, rustc-web and rustfmt-web';
  assert.equal(cargo.status, 0, `no cargo runs here: ${advice}\n${cargo.stderr}`);
  return openWorkbench({ files: PROJECT, env: TOOLCHAIN, ...options });
}

/**
 * @param {import('./workbench.mjs').Workbench} editor
 * @param {string | RegExp} text of a row of the view of functions
 */
function row(editor, text) {
  const view = editor.page.locator('[id="workbench.view.extension.jarvisLsMigration"]');
  return view.locator('.monaco-list-row', { hasText: text }).first();
}

/**
 * @param {import('./workbench.mjs').Workbench} editor
 * @param {string} name
 */
async function picture(editor, name) {
  if (PICTURES) await editor.picture(path.join(PICTURES, `${name}.png`));
}

stamp.describe('a project', () => {
  /** @type {import('./workbench.mjs').Workbench} */
  let editor;
  before(async () => {
    editor = await openProject();
    await editor.serverStarted();
  });
  after(() => editor.close());

  stamp.test('is moved from the palette, with progress, to a crate that builds', async () => {
    await editor.command('Jarvis: Translate Project to Rust (Convert, Transpile)');
    await editor.toast('Migrating C to Rust').waitFor();
    const done = editor.toast('3 of 4 functions are in Rust, and the crate builds');
    await done.waitFor();
    const crate = path.join(editor.base, 'ws_rs');
    assert.ok(existsSync(path.join(crate, 'Cargo.toml')));
    await done.getByRole('button', { name: 'Show Functions' }).click();
    await row(editor, '3 of 4 in Rust').waitFor();
    for (const stage of ['Scan', 'Translate', 'Build']) {
      await editor.page.getByRole('treeitem', { name: new RegExp(`^${stage}: done`) }).waitFor();
    }
  });

  stamp.test(
    'what stays in C is listed with the reason, and is a problem at its line',
    async () => {
      const why = /^fence: Stays in C, sums\.c, line 8\. .*setjmp/;
      await editor.labelBecomes(row(editor, 'fence'), why);
      await editor.labelBecomes(row(editor, 'sum'), /Rust \(baseline\)/);
      const beside = {
        hasText: /./,
        has: editor.page.locator('[aria-label="Show C and Rust Side by Side"]'),
      };
      await row(editor, 'fence').filter(beside).waitFor({ state: 'attached' });
      assert.equal(await row(editor, '3 of 4 in Rust').filter(beside).count(), 0, 'the heading');
      await editor.openProblems();
      const problem = editor.problem('fence stays in C');
      await problem.waitFor();
      assert.match(await problem.innerText(), /jarvis-c2rust.*\[Ln 11, Col 1\]/s);
      await editor.page.keyboard.press('Control+J');
    },
  );

  stamp.test('a click shows the C beside the Rust, each at its line', async () => {
    const tab = (/** @type {string} */ name) =>
      editor.page.locator(`.tab[data-resource-name="${name}"]`);
    await editor.click(row(editor, /^sumsums\.c/), tab('sums.c'));
    await tab('sums.rs').waitFor();
    const groups = editor.page.locator('.editor-group-container');
    await until('two sides', async () => (await groups.count()) === 2);
    await groups
      .nth(0)
      .locator('.view-line', { hasText: /^int\s+sum\(/ })
      .waitFor();
    await groups
      .nth(1)
      .locator('.view-line', { hasText: /fn\s+sum\(/ })
      .waitFor();
    await editor.page
      .locator('.codelens-decoration', { hasText: 'Show Rust (baseline)' })
      .first()
      .waitFor();
    await picture(editor, 'sides');
  });

  stamp.test('a function in C says why there is no Rust', async () => {
    await editor.click(row(editor, 'fence'), editor.toast(/^fence stays in C: /).first());
  });

  stamp.test('words filter the functions until the filter is cleared', async () => {
    await editor.command('Jarvis: Filter Functions…');
    await editor.answer('sums.c setjmp');
    await editor.page.getByText('1 of 4 functions').waitFor();
    await until('one left', async () => (await row(editor, 'twice').count()) === 0);
    await editor.command('Jarvis: Clear Function Filter');
    await row(editor, 'twice').waitFor();
  });

  stamp.test(
    'the overview shows stages, what stays in C and the graph, and breaks no rule of axe',
    async () => {
      await editor.command('Jarvis: Show Migration Overview');
      const page = editor.webview;
      await page.locator('g.node', { hasText: 'twice' }).waitFor();
      await until('4 functions', async () => (await page.locator('g.node').count()) === 4);
      await until('3 calls', async () => (await page.locator('path.edge').count()) === 3);
      await page.locator('.stage.is-done', { hasText: 'Build' }).waitFor();
      await page.locator('td', { hasText: 'sums.c:8' }).waitFor();
      await page.locator('.counts').getByText('Rust (baseline) 3').waitFor();
      const frame = await page
        .locator('body')
        .elementHandle()
        .then((it) => it?.ownerFrame());
      assert.ok(frame);
      await frame.evaluate(AXE);
      assert.deepEqual(await violations(frame), []);
      await picture(editor, 'overview');
    },
  );

  stamp.test('the graph is walked with the keys, and a function opened', async () => {
    const page = editor.webview;
    await page.locator('g.node[tabindex="0"]').focus();
    await editor.page.keyboard.press('Home');
    await editor.page.keyboard.press('ArrowRight');
    await editor.labelBecomes(page.locator('g.node:focus'), /used by 1$/);
    await page.locator('.find').fill('twi');
    await page.locator('g.node.match', { hasText: 'twice' }).waitFor();
    await page.locator('g.node', { hasText: 'twice' }).click();
    await editor.page.locator('.tab[data-resource-name="main.rs"]').waitFor();
  });

  stamp.test('stopped it ends, resumed it goes on', async () => {
    writeFileSync(path.join(editor.folder, 'many.c'), MANY);
    await editor.command('Jarvis: Translate Project to Rust (Convert, Transpile)');
    const going = editor.toast('Migrating C to Rust');
    await going.filter({ hasText: /Reading|Translating|Building/ }).waitFor();
    await going.hover();
    await going.getByRole('button', { name: 'Cancel' }).click();
    const stopped = editor.toast('Stopped. Completed work is kept.');
    await stopped.waitFor();
    assert.equal(existsSync(path.join(editor.folder, '.jarvis/c2rust/request.json')), true);
    rmSync(path.join(editor.folder, 'many.c'));
    await stopped.getByRole('button', { name: 'Resume' }).click();
    await editor.toast('of 4 functions are in Rust').waitFor();
    assert.equal(existsSync(path.join(editor.folder, '.jarvis/c2rust/request.json')), false);
  });

  stamp.test(
    'a function whose Rust behaves differently is a problem at its C, and stands out',
    async () => {
      const rust = path.join(editor.base, 'ws_rs', 'src', 'sums.rs');
      const good = readFileSync(rust, 'utf8');
      writeFileSync(rust, good.replace(' 0i32', ' 1i32'));
      await editor.command('Jarvis: Verify Rust against C');
      await editor.toast('1 of 4 functions behave differently from the C.').waitFor();
      writeFileSync(rust, good);
      const marked = row(editor, /^sumsums\.c/).filter({
        has: editor.page.locator('.codicon-warning'),
      });
      await marked.waitFor();
      const why = /differently from the C: sum\(n = 0\): the result is 0 in C and 1/;
      await editor.labelBecomes(marked, why);
      await editor.openProblems();
      const problem = editor.problem('The Rust version of sum behaves differently: sum(n = 0)');
      await problem.waitFor();
      assert.match(await problem.innerText(), /jarvis-c2rust.*\[Ln 3, Col 1\]/s);
      await picture(editor, 'differs');
      await editor.page.keyboard.press('Control+J');
    },
  );

  stamp.test(
    'the Rust is lifted from the palette, with progress, and what came of it is shown',
    async () => {
      await editor.command('Jarvis: Refactor to Safer Rust');
      const going = editor.toast('Refactoring the Rust code');
      await going.filter({ hasText: /Running refactoring passes: \d+\/\d+/ }).waitFor();
      await picture(editor, 'lifting');
      await going.hover();
      await going.getByRole('button', { name: 'Cancel' }).click();
      await editor.toast('Stopped. Completed work is kept.').waitFor();
      await editor.command('Jarvis: Show Migration Overview');
      await editor.webview.locator('[data-action="lift"]').click();
      const done = editor.toast(/Refactored in .+ s: unsafe functions \d+ → \d+/);
      await done.waitFor();
      await editor.webview.locator('.stage.is-done', { hasText: 'unsafe functions' }).waitFor();
      const ended = editor.page.getByRole('treeitem', { name: /^Refactor: done/ });
      await ended.waitFor(); // the tree is drawn anew a moment after the page
      await picture(editor, 'lifted');
    },
  );
});

test('a workspace without trust is refused, with the reason', async () => {
  const editor = await openProject({
    settings: {
      'security.workspace.trust.enabled': true,
      'security.workspace.trust.startupPrompt': 'never',
    },
  });
  try {
    await editor.serverStarted();
    await editor.command('Jarvis: Translate Project to Rust (Convert, Transpile)');
    const refused = editor.toast('needs a trusted workspace');
    await refused.waitFor();
    assert.match(await refused.innerText(), /build script/);
    await refused.getByRole('button', { name: 'Manage Workspace Trust' }).waitFor();
    assert.ok(!existsSync(path.join(editor.folder, '.jarvis', 'c2rust')));
    assert.ok(!existsSync(path.join(editor.base, 'ws_rs')));
  } finally {
    await editor.close();
  }
});

stamp.test('in Chinese', async () => {
  const editor = await openProject({ locale: 'zh-cn' });
  try {
    await editor.serverStarted();
    await editor.command('Jarvis: 列出要迁移到 Rust 的函数');
    await editor.toast(/已在 .+ 秒内扫描 C 项目：4 个函数。/).waitFor();
    await editor.labelBecomes(row(editor, 'twice'), /^twice：尚未转译，main\.c，第 4 行$/);
    await editor.command('Jarvis: 显示迁移概览');
    await editor.webview.locator('.stage', { hasText: '扫描' }).waitFor();
    await editor.webview.getByText('调用图').waitFor();
    await editor.command('Jarvis: 将项目翻译为 Rust（转换、转译）');
    await editor.toast('3 个').waitFor();
    await editor.command('Jarvis: 重构为更安全的 Rust');
    await editor.toast(/正在运行重构步骤: \d+\/\d+/).waitFor();
  } finally {
    await editor.close();
  }
});
