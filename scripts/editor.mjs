// npm run editor [-- PATH]: a real VS Code with the extension, run from its sources, on PATH. It is
// the user's own `code` when there is one (JARVIS_EDITOR=browser says no), else VS Code in the
// browser, which ends with Ctrl-C.

import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { capture, ROOT, run, TaskError, task, which } from './process.mjs';
import { buildClient, setUpPackages } from './setup/client.mjs';
import { layOutExtension } from './setup/development-extension.mjs';
import { setUpPython } from './setup/python.mjs';
import { installHost } from './setup/vscode-host.mjs';
import { startHost, workbenchUrl } from './setup/vscode-run.mjs';

await task(async () => {
  const folder = projectPath(process.argv[2]);
  await setUpPython();
  await setUpPackages();
  await buildClient();
  const code = process.env.JARVIS_EDITOR === 'browser' ? undefined : await which('code');
  return code ? openOwnEditor(code, folder) : openInBrowser(folder);
});

/**
 * @param {string | undefined} given relative to where the user typed the command
 * @throws {TaskError} when there is no such folder
 */
function projectPath(given) {
  if (!given) return path.join(ROOT, 'tests', 'workspaces', 'inventory');
  const target = path.resolve(process.env.INIT_CWD ?? process.cwd(), given);
  if (!existsSync(target)) throw new TaskError(`${given}: no such folder`);
  return target;
}

/**
 * @param {string} code
 * @param {string} folder
 */
function openOwnEditor(code, folder) {
  console.log(`Opening ${folder} in VS Code`);
  return run(code, ['--new-window', `--extensionDevelopmentPath=${ROOT}`, folder]);
}

/** @param {string} folder */
async function openInBrowser(folder) {
  await installHost();
  const home = path.join(ROOT, '.vscode-host', 'home');
  mkdirSync(home, { recursive: true });
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  const settings = { 'workbench.startupEditor': 'welcomePageInEmptyWorkbench' };
  const host = await startHost({ folder: home, settings });
  const extension = layOutExtension(path.join(home, 'jarvis-ls'));
  const url = workbenchUrl(host, folder, extension);
  console.log(`VS Code with Jarvis LS on ${folder}:\n\n  ${url}\n`);
  console.log('Ctrl-C ends it.');
  await openBrowser(url);
  await Promise.race([interrupted, host.ended]);
  await host.stop();
  return 0;
}

/**
 * Opens the user's browser where there is a screen; the address is printed in any case.
 * @param {string} url
 */
async function openBrowser(url) {
  const isLinux = process.platform === 'linux';
  if (isLinux && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return;
  const opener = isLinux ? 'xdg-open' : 'open';
  if (await which(opener)) await capture(opener, [url]);
}
