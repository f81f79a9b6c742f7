// One function of a migration in the workbench: rewritten by a scripted model under all gates, shown
// with what the gates have seen, and put back.

import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startModel } from './model.mjs';
import { openWorkbench, removed, TOOLCHAIN, until } from './workbench.mjs';

const SUMS = `int sum(int n)
{
    return n ? n + sum(n - 1) : 0;
}

int half(int n)
{
    return n > 10 ? sum(3) : n / 2;
}
`;
const HALF = `fn half(n: i32) -> i32 {
    if n > 10 {
        // SAFETY: sum takes a number and no pointer, every value of n is valid.
        unsafe { sum(3) }
    } else {
        n / 2
    }
}
`;
/** Gates build and run the crate again and again. */
const GATES_MS = 400_000;
const PICTURES = process.env.JARVIS_E2E_PICTURES;

for (const [locale, words] of [
  [
    'en',
    {
      run: 'Jarvis: Transpile Project to Rust (Baseline)',
      built: 'functions are in Rust',
      rewrite: /Rewrite with a model/,
      missing: /Rewriting needs a model/,
      going: /Rewriting with a model: \d+\/11, /,
      done: /half: rewritten: equal on \d+ inputs, \d+ of \d+ mutants found/,
      lens: /Show Rust \(idiomatic\) · equal to the C on \d+ inputs · unsafe lines \d+ -> \d+/,
      revert: 'Jarvis: Put the Baseline of a Function Back',
      reverted: /half: the baseline stays: reverted by the user/,
    },
  ],
  [
    'zh-cn',
    {
      run: 'Jarvis: 将项目转译为 Rust（基线）',
      built: '个',
      rewrite: /用模型重写/,
      missing: /重写需要模型/,
      going: /正在用模型重写: \d+\/11/,
      done: /half: 已重写：在 \d+ 个输入上相同/,
      lens: /unsafe 行 \d+ -> \d+/,
      revert: 'Jarvis: 恢复函数的基线版本',
      reverted: /half: 保留基线：已由用户撤回/,
    },
  ],
]) {
  describe(`a function is rewritten, ${locale}`, () => {
    const home = mkdtempSync(path.join(tmpdir(), 'jls-home-'));
    let model;
    /** @type {import('./workbench.mjs').Workbench} */
    let editor;
    before(async () => {
      model = await startModel();
      editor = await openWorkbench({
        files: { 'sums.c': SUMS },
        locale,
        env: { ...TOOLCHAIN, JARVIS_HOME: home },
      });
      await editor.serverStarted();
      await editor.command(words.run);
      await editor.toast(words.built).waitFor({ timeout: GATES_MS });
      await editor.open('sums.c');
    });
    after(async () => {
      await editor?.close();
      await model?.close();
      await removed(home);
    });

    /** @param {string} name */
    async function picture(name) {
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        await editor.picture(path.join(PICTURES, `rewrite-${name}-${locale}.png`));
      }
    }

    function rust() {
      return readFileSync(path.join(editor.base, 'ws_rs', 'src', 'sums.rs'), 'utf8');
    }

    test('without a model it says what to set', async () => {
      await editor.goTo(6, 5);
      await editor.quickFix(words.rewrite);
      const message = editor.toast(words.missing);
      await message.waitFor({ timeout: GATES_MS });
      await picture('no-model');
      await message.locator('.codicon-notifications-clear').click();
    });

    test('the gates are told one by one, and what they have seen stands above it', async () => {
      model.configure(home);
      // To the scripted model the first that is in brackets, of `#[no_mangle]`, names the agent.
      await model.script(
        { of: 'no_mangle', say: JSON.stringify({ code: '' }) },
        { of: 'no_mangle', say: JSON.stringify({ status: 'rewritten', code: HALF }) },
        { of: 'no_mangle', say: JSON.stringify({ agrees: true }) },
      );
      await editor.goTo(6, 5);
      await editor.quickFix(words.rewrite);
      await editor.toast(words.going).waitFor({ timeout: GATES_MS });
      await picture('going');
      await editor.toast(words.done).waitFor({ timeout: GATES_MS });
      await until('it is in the crate', async () => rust().includes('unsafe { sum(3) }'));
      const lens = editor.page.locator('.codelens-decoration', { hasText: words.lens });
      await lens.first().waitFor();
      await picture('done');
    });

    test('its baseline is put back from the palette', async () => {
      await editor.goTo(6, 5);
      await editor.command(words.revert);
      await editor.toast(words.reverted).waitFor({ timeout: GATES_MS });
      await until('the baseline is back', async () => !rust().includes('unsafe { sum(3) }'));
      await picture('reverted');
    });
  });
}
