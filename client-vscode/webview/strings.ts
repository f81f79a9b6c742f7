/** Texts of the page in the user's language: one table per language, the same keys in both. */

import en from './strings/en.json';
import zhCn from './strings/zh-cn.json';

export type Key = keyof typeof en;
export type Values = Record<string, string | number>;

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
export function t(key: Key, values: Values = {}): string {
  return table[key].replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** `key.one` for 1, else `key.many`, with `{n}` filled in. */
export function counted(
  key: 'agents' | 'files' | 'hunks' | 'messages' | 'scripts' | 'sessions',
  n: number,
) {
  return t(`count.${key}.${n === 1 ? 'one' : 'many'}`, { n: number(n) });
}

export function number(value: number): string {
  return new Intl.NumberFormat(locale).format(value);
}

/** 1234 → `1.2k`: tokens where there is little room; the same in every language. */
export function short(value: number): string {
  if (value < 1000) {
    return String(value);
  }
  const [scaled, unit] = value < 999_500 ? [value / 1000, 'k'] : [value / 1_000_000, 'M'];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** A sum of money in the currency of the configured prices. */
export function cost(value: number): string {
  return value === 0 ? '0' : value < 0.01 ? value.toFixed(4) : value.toFixed(2);
}

export function seconds(value: number): string {
  if (value < 60) {
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  }
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** How long ago a time (seconds since 1970) was, in words. */
export function ago(time: number, now = Date.now() / 1000): string {
  const past = Math.max(0, now - time);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const;
  for (const [unit, size] of units) {
    if (past >= size) {
      return format.format(-Math.floor(past / size), unit);
    }
  }
  return t('justNow');
}
