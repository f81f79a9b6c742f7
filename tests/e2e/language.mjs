// Another display language without its marketplace package: a language pack for the editor with a
// few words, so that `vscode.env.language` is real and our own catalogs are what is tested.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const WORDS = {
  'zh-cn': { 'vs/workbench/browser/parts/statusbar/statusbarPart': {} },
};

/**
 * @param {string} locale
 * @param {string} data the editor's user data folder
 */
export function speak(locale, data) {
  const pack = path.join(data, 'words.json');
  mkdirSync(path.join(data, 'User'), { recursive: true });
  const contents = WORDS[/** @type {keyof typeof WORDS} */ (locale)] ?? {};
  writeFileSync(pack, JSON.stringify({ version: '1.0.0', contents }));
  const extensions = [{ extensionIdentifier: { id: 'jarvis-ls.test-language' }, version: '1.0.0' }];
  const entry = { hash: 'jarvis', extensions, translations: { vscode: pack }, label: locale };
  writeFileSync(path.join(data, 'languagepacks.json'), JSON.stringify({ [locale]: entry }));
  writeFileSync(path.join(data, 'User', 'argv.json'), JSON.stringify({ locale }));
}
