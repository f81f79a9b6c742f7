/**
 * Tells screen readers what happens: what a model says sentence by sentence, what needs an answer at
 * once. Nothing is said of what was there before the page was.
 */

/** A sentence ends here, or a line. */
const SENTENCE = /[.!?](?=\s)|[。！？；\n]/g;
const SPOKEN_MS = 700;

export class Announcer {
  private readonly polite = region('polite');
  private readonly assertive = region('assertive');
  private readonly waiting: string[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly said = new Map<string, number>();

  /** Says it when what is being said has been said. */
  say(text: string): void {
    const spoken = plain(text);
    if (spoken !== '') {
      this.waiting.push(spoken);
      this.timer ??= setTimeout(() => this.speak(), 50);
    }
  }

  /** Says it at once, as it is: something waits for an answer. Empty when nothing waits any more. */
  alert(text: string): void {
    this.assertive.textContent = text.replace(/\s+/g, ' ').trim();
  }

  /** Says the sentences a growing text has got since the last call; all of it when it ended. */
  sentences(id: string, text: string, growing: boolean): void {
    const from = this.said.get(id) ?? 0;
    const rest = text.slice(from);
    let end = growing ? 0 : rest.length;
    if (growing) {
      for (const match of rest.matchAll(SENTENCE)) {
        end = match.index + match[0].length;
      }
    }
    if (end > 0) {
      this.say(rest.slice(0, end));
      this.said.set(id, from + end);
    }
  }

  /** A text was there already: only what comes now is said. */
  skip(id: string, text: string): void {
    this.said.set(id, text.length);
  }

  private speak(): void {
    this.polite.textContent = this.waiting.splice(0).join(' ');
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.waiting.length > 0) {
        this.speak();
      }
    }, SPOKEN_MS);
  }
}

function region(manner: 'polite' | 'assertive'): HTMLElement {
  const element = document.createElement('div');
  element.className = 'spoken';
  element.setAttribute('aria-live', manner);
  element.setAttribute('aria-atomic', 'true');
  document.body.append(element);
  return element;
}

/** Without the marks of Markdown, which nobody wants to hear. */
function plain(text: string): string {
  return text
    .replace(/```[^\n]*\n?/g, '')
    .replace(/^\s*\|.*$/gm, (row) => row.replace(/\|/g, ' '))
    .replace(/^\s*[#>]+(?=\s)/gm, '')
    .replace(/[*`]+/g, '')
    .replace(/(?<!\w)_+|_+(?!\w)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
