/** Blocks of code: highlighted, with their language, a button that copies them, and keys to scroll. */

import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import diff from 'highlight.js/lib/languages/diff';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { copyButton, iconButton } from './buttons';
import { t } from './strings';

const LANGUAGES = {
  bash,
  c,
  cpp,
  diff,
  ini,
  javascript,
  json,
  makefile,
  markdown,
  python,
  rust,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}
hljs.registerAliases(['toml'], { languageName: 'ini' });

/** Longer code is shown plain: highlighting it would hold up the page. */
const MOST_HIGHLIGHTED = 40_000;
/** While it grows, only its beginning is highlighted. */
const MOST_WHILE_GROWING = 3000;

/** The event of a block whose code the user wants at the cursor of the editor. */
export const INSERT_CODE = 'insert-code';

/** The event of a block whose code the user wants in the file it is meant for. */
export const APPLY_CODE = 'apply-code';

/** What `APPLY_CODE` says. */
export interface ApplyWish {
  text: string;
  info: string;
  /** The words right before the block, which may name the file. */
  before: string;
}
/** As much of them as says what the block is. */
const MOST_BEFORE = 400;

export interface CodeBlock {
  readonly element: HTMLElement;
  /** Shows a text that begins with the one shown. */
  grow(text: string): void;
}

/** A block of code; one that `grow`s is highlighted in full once it is drawn anew at its end. */
export function codeBlock(text: string, info: string | undefined, growing: boolean): CodeBlock {
  const language = (info ?? '').trim().split(/[\s,{]/)[0] ?? '';
  const element = document.createElement('figure');
  element.className = 'code-block';
  const head = document.createElement('figcaption');
  const name = document.createElement('span');
  name.className = 'language';
  name.textContent = language.slice(0, 30) || t('code.plain');
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  pre.setAttribute('aria-label', t('code.label', { language: name.textContent }));
  const code = document.createElement('code');
  pre.append(code);
  let shown = '';
  const grow = (longer: string) => {
    if (growing && shown.length > MOST_WHILE_GROWING && longer.startsWith(shown)) {
      code.append(longer.slice(shown.length));
    } else {
      code.replaceChildren(highlighted(longer, language));
    }
    shown = longer;
  };
  grow(text);
  head.append(
    name,
    iconButton('diff', t('code.apply'), () => {
      const detail = { text: shown, info: info ?? '', before: wordsBefore(element) };
      element.dispatchEvent(new CustomEvent<ApplyWish>(APPLY_CODE, { detail, bubbles: true }));
    }),
    iconButton('insert', t('code.insert'), () => {
      const detail = shown;
      element.dispatchEvent(new CustomEvent<string>(INSERT_CODE, { detail, bubbles: true }));
    }),
    copyButton(() => shown),
  );
  element.append(head, pre);
  return { element, grow };
}

/** The end of what an answer says right before a block: what stands beside it, or around it. */
function wordsBefore(block: HTMLElement): string {
  let at: Element | null = block;
  while (at !== null && !at.classList.contains('markdown')) {
    const words = said(at.previousSibling);
    if (words !== '') {
      return words.slice(-MOST_BEFORE);
    }
    at = at.parentElement;
  }
  return '';
}

/** The text of the nearest node before that has any; another block of code says nothing. */
function said(node: Node | null): string {
  for (let at = node; at !== null; at = at.previousSibling) {
    const isBlock = at instanceof Element && at.classList.contains('code-block');
    const text = isBlock ? '' : (at.textContent ?? '').trim();
    if (isBlock || text !== '') {
      return text;
    }
  }
  return '';
}

/** A text with its words marked; plain when the language is not known or the text is long. */
export function highlighted(text: string, language: string): Node {
  if (text.length > MOST_HIGHLIGHTED || hljs.getLanguage(language) === undefined) {
    return document.createTextNode(text);
  }
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  return DOMPurify.sanitize(value, {
    ALLOWED_TAGS: ['span'],
    ALLOWED_ATTR: ['class'],
    RETURN_DOM_FRAGMENT: true,
  });
}

const BY_EXTENSION: Record<string, string> = {
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cxx: 'cpp',
  hh: 'cpp',
  hpp: 'cpp',
  hxx: 'cpp',
  js: 'javascript',
  json: 'json',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  toml: 'ini',
  ts: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The language of a file by its name; empty when it is not known. */
export function languageOf(path: string): string {
  return BY_EXTENSION[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? '';
}
