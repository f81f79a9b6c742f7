// Tools for the language models of the editor, and the tool server it is offered, in the workbench:
// `in-host/agent` is an extension with an agent that uses them, and the user is asked here.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { layOutExtension } from '../../scripts/setup/development-extension.mjs';
import { openWorkbench, removed, until } from './workbench.mjs';

const TWICE = `#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *word = malloc(10);
    if (argc < 2 || word == NULL)
        return 1;
    puts(argv[1]);
    free(word);
    free(word);
    return 0;
}
`;
const AGENT = path.join(import.meta.dirname, 'in-host', 'agent');
/** Schemas of tools are read by one that VS Code 1.100 would fetch from the network; it is built in. */
const SCHEMA = {
  fileMatch: ['/none.json'],
  url: 'https://json-schema.org/draft-07/schema',
  schema: { $ref: 'http://json-schema.org/draft-07/schema#' },
};
const PICTURES = process.env.JARVIS_PANEL_PICTURES;

for (const [locale, title] of [
  ['en', 'Build and run code of this workspace?'],
  ['zh-cn', '要构建并运行此工作区的代码吗？'],
]) {
  test(`tools for models of the editor, ${locale}`, async () => {
    const extension = mkdtempSync(path.join(tmpdir(), 'jls-extension-'));
    const editor = await openWorkbench({
      files: { 'twice.c': TWICE },
      locale: locale === 'en' ? undefined : locale,
      extension: proposing(layOutExtension(extension)),
      installed: AGENT,
      settings: { 'json.schemas': [SCHEMA] },
    });
    const log = path.join(editor.base, 'agent.log');
    const ended = () => existsSync(log) && readFileSync(log, 'utf8').endsWith('end\n');
    const said = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    try {
      await editor.command('Agent: Use Tools');
      const dialog = editor.page.locator('.monaco-dialog-box');
      for (const name of [/^Cancel/, /^Yes/]) {
        await until('a question', async () => ended() || (await dialog.isVisible()));
        assert.ok(!ended(), said());
        const text = await dialog.innerText();
        assert.ok(text.includes(title), text);
        if (PICTURES) await editor.picture(path.join(PICTURES, `editor-tools-${locale}.png`));
        const shown = await dialog.elementHandle();
        await dialog.getByRole('button', { name }).click();
        await shown.waitForElementState('hidden'); // the next question may be there at once
      }
      await until('the agent has ended', ended);
      await editor.command('MCP: List Servers');
      for (const hasText of ['Jarvis', 'Start Server']) {
        await editor.quickInput.locator('input.input').fill(hasText);
        await editor.quickInput.locator('.monaco-list-row', { hasText }).first().waitFor();
        await editor.page.keyboard.press('Enter');
      }
      await editor.command('Agent: Use Tool Server');
      await until('the agent has used the server', () => said().split('end\n').length > 2);
      assert.match(said(), /ok: code is run when the user has agreed/, said());
      assert.match(said(), /ok: the tools of the offered server answer/, said());
    } finally {
      await editor.close();
      await removed(extension);
    }
  });
}

/**
 * Lets the extension use in VS Code 1.100, which the workbench is, what is final from 1.101 on: the
 * offer of tool servers was a proposal then, and its contribution had another name.
 * @param {string} folder
 */
function proposing(folder) {
  const file = path.join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const { contributes } = manifest;
  contributes.modelContextServerCollections = contributes.mcpServerDefinitionProviders;
  manifest.enabledApiProposals = ['mcpConfigurationProvider'];
  writeFileSync(file, JSON.stringify(manifest));
  return folder;
}
