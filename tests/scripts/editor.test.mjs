import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-editor-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the user's own VS Code is opened with the extension from its sources", async () => {
  const bin = path.join(folder, 'bin');
  const seen = path.join(folder, 'seen');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'code'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${seen}'\n`);
  chmodSync(path.join(bin, 'code'), 0o755);
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
  const { status, stderr } = await capture(process.execPath, ['scripts/editor.mjs', folder], {
    env,
  });
  assert.equal(status, 0, stderr);
  const given = readFileSync(seen, 'utf8').trim().split('\n');
  assert.deepEqual(given, ['--new-window', `--extensionDevelopmentPath=${ROOT}`, folder]);
});

test('VS Code in the browser answers, and Ctrl-C ends all of it', async () => {
  const child = spawn(process.execPath, ['scripts/editor.mjs', folder], {
    cwd: ROOT,
    env: { ...process.env, JARVIS_EDITOR: 'browser', DISPLAY: '', WAYLAND_DISPLAY: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const url = await printedUrl(child);
    const page = await fetch(url);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /workbench/);
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
    await assert.rejects(fetch(url));
  } finally {
    child.kill('SIGTERM');
  }
});

test('a tool that is installed after the editor in the browser is taken up', async () => {
  const modules = path.join(folder, 'modules');
  for (const built of ['@vscode/spdlog', 'node-pty']) {
    mkdirSync(path.join(modules, built, 'build', 'Release'), { recursive: true });
  }
  const tools = path.join(folder, 'tools');
  mkdirSync(tools);
  symlinkSync('/bin/sh', path.join(tools, 'sh'));
  assert.match(
    await completed(modules, tools),
    /ripgrep is missing: .*the first C, C\+\+ or Rust file/,
  );
  writeFileSync(path.join(tools, 'rg'), '#!/bin/sh\necho found\n', { mode: 0o755 });
  assert.equal(await completed(modules, tools), '');
  const linked = path.join(modules, '@vscode', 'ripgrep', 'bin', 'rg');
  assert.equal((await capture(linked, [])).stdout, 'found\n');
});

/**
 * What is printed when an editor with these modules is completed from the tools of one folder.
 * @param {string} modules
 * @param {string} tools
 */
async function completed(modules, tools) {
  const code = `import { complete } from './scripts/setup/vscode-host.mjs'; await complete(process.argv[1])`;
  const given = ['--input-type=module', '--eval', code, modules];
  const env = { ...process.env, PATH: tools };
  const { status, stdout, stderr } = await capture(process.execPath, given, { env });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** @param {import('node:child_process').ChildProcess} child */
async function printedUrl(child) {
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk;
    const url = /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(text)?.[0];
    if (url && text.includes('Ctrl-C')) return url;
  }
  throw new Error(`no address was printed: ${text}`);
}
