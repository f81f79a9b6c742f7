// Starts the VS Code server and the browser that all end-to-end tests share, prints the environment
// by which they find them as one line of JSON, and ends both when its standard input ends.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startHost } from '../../scripts/setup/vscode-run.mjs';
import { BROWSER, serveBrowser } from '../support/browser.mjs';
import { HOST } from './shared-host.mjs';
import { environment, removed, TOOLCHAIN } from './workbench.mjs';

// Ctrl-C ends the tests, and with them the input: what was started is still stopped then.
process.on('SIGINT', () => undefined);

const folder = mkdtempSync(path.join(tmpdir(), 'jls-'));
const env = { ...environment(folder), ...TOOLCHAIN, JARVIS_HOME: path.join(folder, 'jarvis') };
const browser = await serveBrowser();
const host = await startHost({ folder, env });
const shared = JSON.stringify({ address: host.address, folder, pid: host.pid });
console.log(JSON.stringify({ [HOST]: shared, [BROWSER]: browser.wsEndpoint() }));
process.stdin.resume();
await new Promise((resolve) => process.stdin.once('end', resolve));
await browser.close();
await host.stop();
await removed(folder);
