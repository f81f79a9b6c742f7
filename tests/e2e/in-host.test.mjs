// The extension by its programming interface: `in-host/index.cjs` runs inside the extension host.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openWorkbench, until } from './workbench.mjs';

const COPY = `#include <string.h>

void copy(const char *name) {
  char line[16];

  strcpy(line, name);
}
`;
const MANY = `#include <string.h>

void many(const char *name) {
  char one[16], two[16], three[16];
  strcpy(one, name);
  strcpy(two, name);
  strcpy(three, name);
}
`;

test('inside the extension host', async () => {
  /** @type {{code: number, text: string} | undefined} */
  let end;
  /** @type {string[]} */
  const lines = [];
  const script = path.join(import.meta.dirname, 'in-host', 'index.cjs');
  const editor = await openWorkbench({
    files: { 'copy.c': COPY, 'many.c': MANY },
    payload: [
      ['extensionTestsPath', `vscode-remote://AUTHORITY${script}`],
      ['skipWelcome', 'true'],
    ],
    beforeLoad: async (page) => {
      await page.exposeFunction(
        'codeAutomationLog',
        (/** @type {string} */ _, /** @type {unknown[]} */ all) => {
          lines.push(all.map(String).join(' '));
        },
      );
      await page.exposeFunction('codeAutomationExit', (/** @type {number} */ code) => {
        end = { code, text: lines.join('\n') };
      });
    },
  });
  try {
    const { code, text } = await until('end of the tests', () => end, 600_000);
    assert.equal(code, 0, text);
    assert.match(text, /in-host ok: a renamed file/);
  } finally {
    await editor.close();
  }
});
