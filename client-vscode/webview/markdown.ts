/**
 * Markdown as it streams in. What is finished stays as it is in the page; only the last block, which
 * may still grow, is drawn again, and no more often than it costs. Everything a model, a tool or a
 * file says goes through a sanitiser that knows a short list of harmless elements.
 */

import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { type CodeBlock, codeBlock } from './code';

/** Told when the user follows a link. */
export type Follow = (href: string) => void;

const marked = new Marked({
  gfm: true,
  breaks: false,
  async: false,
  renderer: {
    // Nothing is fetched to show a text: a picture is a link to it.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    html: ({ text }) => plainMarkup(text),
  },
});

const TAGS =
  'a b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i input kbd li ol p pre s span strong sub summary sup table tbody td th thead tr ul'.split(
    ' ',
  );
/** An element without attributes, as `escaped` leaves it. */
const SIMPLE = new RegExp(
  `&#60;(/?(?:${TAGS.filter((it) => it !== 'a' && it !== 'input').join('|')}))\\s*/?&#62;`,
  'gi',
);
const ATTRIBUTES = ['align', 'checked', 'class', 'disabled', 'href', 'open', 'start', 'title'];
/** Web addresses, files, and paths, also those of Windows. */
const LINKS = /^(?:https?:|file:|mailto:|#|[a-z]:[\\/]|(?![a-z][a-z0-9+.-]*:)[^\\])/i;
const LANGUAGE = /^language-[\w+#.-]{1,40}$/;
/** The last block is drawn again after this many times as long as drawing it took. */
const PATIENCE = 5;
/** Characters that are read at a time; what is longer is drawn in turns, so that the page moves. */
const PIECE = 6000;
/** A turn of drawing ends after this many milliseconds, and another follows a frame later. */
const TURN = 8;
const FRAME = 16;
/** For so many milliseconds nothing below a pressed pointer is drawn anew: its click would be lost. */
const PRESS = 1000;

/** A text that is shown as Markdown in an element of its own. */
export class Markdown {
  readonly element: HTMLElement;
  private source = '';
  /** How much of the source is finished. */
  private finished = 0;
  private tail: ChildNode[] = [];
  private tailCode: CodeBlock | undefined;
  private tailText = '';
  private nextDraw = 0;
  private pressedUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly follow: Follow) {
    this.element = document.createElement('div');
    this.element.className = 'markdown';
    this.element.addEventListener('click', (event) => this.clicked(event));
    this.element.addEventListener('pointerdown', () => {
      this.pressedUntil = performance.now() + PRESS;
    });
    for (const name of ['pointerup', 'pointercancel'] as const) {
      this.element.addEventListener(name, () => {
        this.pressedUntil = 0;
      });
    }
  }

  /** What is shown, as it came. */
  get text(): string {
    return this.source;
  }

  /** Shows a text; one that continues what is shown costs only its end. */
  show(text: string, growing: boolean): void {
    clearTimeout(this.timer);
    if (!text.startsWith(this.source)) {
      this.reset();
    }
    const same = text === this.source;
    this.source = text;
    if (!growing) {
      this.finish(same);
      return;
    }
    const wait = this.nextDraw - performance.now();
    if (wait > 0) {
      this.timer = setTimeout(() => this.drawTail(), wait);
    } else if (!same) {
      this.drawTail();
    }
  }

  private get isPressed(): boolean {
    return performance.now() < this.pressedUntil;
  }

  private reset(): void {
    this.element.replaceChildren();
    this.source = '';
    this.finished = 0;
    this.tail = [];
    this.tailCode = undefined;
    this.tailText = '';
    this.nextDraw = 0;
  }

  private finish(same: boolean): void {
    if (same && this.tail.length === 0 && this.finished === this.source.length) {
      return;
    }
    if (this.isPressed) {
      this.timer = setTimeout(() => this.finish(false), FRAME);
      return;
    }
    // A definition at the end may give links at the beginning their address.
    if (/^ {0,3}\[[^\]]+\]:/m.test(this.source)) {
      const text = this.source;
      this.reset();
      this.source = text;
    }
    this.replaceTail([]);
    if (!this.drawPieces(performance.now())) {
      this.timer = setTimeout(() => this.finish(false), FRAME);
      return;
    }
    this.element.append(...this.draw(marked.lexer(this.source.slice(this.finished))));
    this.finished = this.source.length;
  }

  /** Draws what came since; all blocks but the last are then finished. */
  private drawTail(): void {
    if (this.isPressed) {
      this.timer = setTimeout(() => this.drawTail(), FRAME);
      return;
    }
    const began = performance.now();
    if (this.tailCode !== undefined && this.continueCode(this.source.slice(this.finished))) {
      this.nextDraw = performance.now() + (performance.now() - began) * PATIENCE;
      return;
    }
    if (!this.drawPieces(began)) {
      this.nextDraw = performance.now() + FRAME;
      this.timer = setTimeout(() => this.drawTail(), FRAME);
      return;
    }
    const open = this.finishAllButLast(marked.lexer(this.source.slice(this.finished)));
    this.replaceTail(this.draw(open, true));
    this.nextDraw = performance.now() + (performance.now() - began) * PATIENCE;
  }

  /** Finishes blocks while much is left and this turn lasts; whether little is left. */
  private drawPieces(began: number): boolean {
    let size = PIECE;
    while (this.source.length - this.finished > PIECE) {
      if (performance.now() - began > TURN) {
        return false;
      }
      const piece = this.source.slice(this.finished, this.finished + size);
      const before = this.finished;
      this.finishAllButLast(marked.lexer(piece));
      if (this.finished > before) {
        size = PIECE;
      } else if (before + size >= this.source.length) {
        return true; // one block, to its end
      } else {
        size *= 2;
      }
    }
    return true;
  }

  /** Draws blocks that nothing can change any more; the last one, which may grow, is given back. */
  private finishAllButLast(tokens: Token[]): Token[] {
    let last = tokens.length - 1;
    while (last > 0 && tokens[last]?.type === 'space') {
      last--;
    }
    const done = tokens.slice(0, Math.max(last, 0));
    const open = tokens.slice(Math.max(last, 0));
    const [list] = open;
    if (list?.type === 'list' && list.raw.length > PIECE) {
      const split = withoutLastItem(list as Tokens.List);
      if (split !== undefined) {
        done.push(split[0]);
        open.splice(0, open.length, split[1]);
      }
    }
    this.replaceTail([]);
    if (done.length > 0) {
      const raw = done.map((token) => token.raw).join('');
      // What the lexer made even (tabs, line ends) could be longer or shorter than the source.
      if (this.source.startsWith(raw, this.finished)) {
        this.element.append(...this.draw(done));
        this.finished += raw.length;
      } else {
        open.unshift(...done);
      }
    }
    return open;
  }

  /** A block of code that only became longer is not drawn again. */
  private continueCode(rest: string): boolean {
    const more = rest.slice(this.tailText.length);
    if (this.tailCode === undefined || !rest.startsWith(this.tailText) || /[`~]/.test(more)) {
      return false;
    }
    if (rest.length > PIECE && /^(?:`{3,}|~{3,})/.test(rest)) {
      this.tailCode.grow(rest.slice(rest.indexOf('\n') + 1));
      this.tailText = rest;
      return true;
    }
    const [token] = marked.lexer(rest);
    if (token?.type !== 'code' || token.raw.trimEnd() !== rest.trimEnd()) {
      return false;
    }
    this.tailCode.grow((token as Tokens.Code).text);
    this.tailText = rest;
    return true;
  }

  private replaceTail(nodes: ChildNode[]): void {
    for (const node of this.tail) {
      node.remove();
    }
    this.tail = nodes;
    this.element.append(...nodes);
    if (nodes.length === 0) {
      this.tailCode = undefined;
      this.tailText = '';
    }
  }

  private draw(tokens: Token[], open = false): ChildNode[] {
    const nodes: ChildNode[] = [];
    // Made clean together, because each time costs a document; but not what holds markup of its
    // own, which could reach into the blocks behind it.
    let plain: Token[] = [];
    const finishPlain = (): void => {
      if (plain.length > 0) {
        nodes.push(...blockNodes(plain));
        plain = [];
      }
    };
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'space' || token.type === 'def') {
        continue;
      }
      if (token.type === 'code') {
        finishPlain();
        const { text, lang } = token as Tokens.Code;
        const growing = open && index === 0;
        const block = codeBlock(text, lang, growing);
        if (growing) {
          this.tailCode = block;
          this.tailText = this.source.slice(this.finished);
        }
        nodes.push(block.element);
        continue;
      }
      const hasMarkup = token.raw.includes('<');
      if (hasMarkup) {
        finishPlain();
      }
      plain.push(token);
      if (hasMarkup) {
        finishPlain();
      }
    }
    finishPlain();
    return nodes;
  }

  private clicked(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link !== null) {
      event.preventDefault();
      this.follow(link.getAttribute('href') ?? '');
    }
  }
}

/** A long list as all of it but the last item, and that item; nothing when it has one only. */
function withoutLastItem(list: Tokens.List): [Tokens.List, Tokens.List] | undefined {
  const last = list.items.at(-1);
  const raw = list.items.map((item) => item.raw).join('');
  if (last === undefined || list.items.length < 2 || raw !== list.raw) {
    return undefined;
  }
  const first = raw.slice(0, raw.length - last.raw.length);
  const start = typeof list.start === 'number' ? list.start + list.items.length - 1 : list.start;
  return [
    { ...list, raw: first, items: list.items.slice(0, -1) },
    { ...list, raw: last.raw, items: [last], start },
  ];
}

/** A short text as Markdown, at once. */
export function renderMarkdown(text: string, follow: Follow): HTMLElement {
  const markdown = new Markdown(follow);
  markdown.show(text, false);
  return markdown.element;
}

function blockNodes(tokens: Token[]): ChildNode[] {
  const list = Object.assign(tokens, { links: {} });
  return [...sanitise(marked.parser(list)).childNodes];
}

function sanitise(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: LINKS,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const element of fragment.querySelectorAll('[class]')) {
    if (!LANGUAGE.test(element.className)) {
      element.removeAttribute('class');
    }
  }
  for (const code of fragment.querySelectorAll('pre > code')) {
    const language = code.className.replace(/^language-/, '');
    const text = (code.textContent ?? '').replace(/\n$/, '');
    code.parentElement?.replaceWith(codeBlock(text, language, false).element);
  }
  for (const link of fragment.querySelectorAll('a')) {
    finishLink(link);
  }
  for (const box of fragment.querySelectorAll('input')) {
    box.replaceWith(box.hasAttribute('checked') ? '☑ ' : '☐ ');
  }
  for (const table of fragment.querySelectorAll('table')) {
    const frame = document.createElement('div');
    frame.className = 'table-frame';
    frame.tabIndex = 0;
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}

/** Markup of a text as text, but for simple elements without attributes. */
function plainMarkup(text: string): string {
  return escaped(text).replace(SIMPLE, '<$1>');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A link that leads nowhere is only text; where one leads is told before it is followed. */
function finishLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href');
  if (href === null || href === '' || href.startsWith('#')) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.title = href;
}
