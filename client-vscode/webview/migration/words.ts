/** Texts of the overview in the user's language: one table per language, the same keys in both. */

import en from '../strings/migration.en.json';
import zhCn from '../strings/migration.zh-cn.json';

export type Key = keyof typeof en;

let table: Record<Key, string> = en;
let locale = 'en';

/** Chooses the language by the editor's name of it; English when there is no table. */
export function chooseLanguage(name: string): void {
  const isChinese = name.toLowerCase().startsWith('zh');
  table = isChinese ? zhCn : en;
  locale = isChinese ? 'zh-CN' : 'en';
  document.documentElement.lang = locale;
}

/** The text of a key with its `{places}` filled in. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return table[key].replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** The text of a key made of parts, such as a stage's name; the last part when there is none. */
export function named(
  kind: 'stage' | 'state' | 'proof' | 'kind' | 'test' | 'count' | 'pass',
  name: string,
): string {
  return table[`${kind}.${name}` as Key] ?? name;
}

export function time(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(locale, {
    dateStyle: 'short',
    timeStyle: 'short',
  });
}
