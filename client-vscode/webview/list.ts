/**
 * A long list of which only what can be seen is in the page. Rows have any height and may change it
 * at any time: while the reader is at the end they stay there, anywhere else what they read does not
 * move. A row that holds the focus or a part of the selection stays in the page.
 */

/** What the list shows. */
export interface Rows {
  /** Ids in their order. */
  ids(): readonly string[];
  /** Makes the row; it is thrown away when it is out of sight. */
  draw(id: string): HTMLElement;
  /** A row is out of sight and gone from the page. */
  gone(id: string): void;
}

/** A row, and how far its top lies above the upper edge. */
interface Place {
  id: string;
  above: number;
}

/** Beyond what can be seen, above and below. */
const MARGIN = 400;
const GUESS = 72;
/** This near to the end counts as the end. */
const AT_END = 24;

export class LongList {
  private readonly canvas = document.createElement('div');
  private readonly drawn = new Map<string, HTMLElement>();
  private readonly heights = new Map<string, number>();
  private readonly observer: ResizeObserver;
  private ids: readonly string[] = [];
  private index = new Map<string, number>();
  private tops: number[] = [0];
  private following = true;
  private height = 0;
  private active: string | undefined;
  /** Where the reader shall be once the list can be seen. */
  private wanted: Place | undefined;

  /** `moved` is told when the reader leaves or reaches the end. */
  constructor(
    readonly frame: HTMLElement,
    private readonly rows: Rows,
    private readonly moved: (atEnd: boolean) => void = () => undefined,
  ) {
    this.canvas.className = 'long-list';
    this.canvas.setAttribute('role', 'feed');
    frame.append(this.canvas);
    this.observer = new ResizeObserver((changes) => this.resized(changes));
    this.observer.observe(frame);
    frame.addEventListener('scroll', () => this.scrolled(), { passive: true });
    // Told before the frame has moved: what arrives meanwhile must not pull the reader back.
    frame.addEventListener('wheel', (event) => event.deltaY < 0 && this.leaveEnd(), {
      passive: true,
    });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focusin', (event) => this.focused(event));
  }

  /** The element the rows lie in. */
  get element(): HTMLElement {
    return this.canvas;
  }

  get atEnd(): boolean {
    return this.following;
  }

  /** Where the reader is: a row and how far its top lies above the upper edge. */
  get place(): Place | undefined {
    return this.following ? undefined : (this.wanted ?? this.anchor());
  }

  /** Shows the rows as they are now; call it when rows came, went or another list is meant. */
  refresh(): void {
    const anchor = this.following ? undefined : (this.wanted ?? this.anchor());
    this.ids = this.rows.ids();
    this.index = new Map(this.ids.map((id, index) => [id, index]));
    for (const [id, row] of this.drawn) {
      if (!this.index.has(id)) {
        this.remove(id, row);
      }
    }
    this.measure();
    this.layOut(anchor);
  }

  /** Forgets everything: another list is shown. */
  clear(): void {
    for (const [id, row] of this.drawn) {
      this.remove(id, row);
    }
    this.heights.clear();
    this.active = undefined;
    this.wanted = undefined;
    this.following = true;
    this.refresh();
  }

  /** The row of an id, when it is in the page. */
  row(id: string): HTMLElement | undefined {
    return this.drawn.get(id);
  }

  /** Puts an element for a row that looks different now in place of the old one. */
  redraw(id: string): void {
    const old = this.drawn.get(id);
    if (old !== undefined) {
      const hadFocus = old.contains(document.activeElement);
      this.remove(id, old);
      this.layOut(this.following ? undefined : this.anchor());
      if (hadFocus) {
        this.drawn.get(id)?.focus({ preventScroll: true });
      }
    }
  }

  toEnd(): void {
    this.following = true;
    this.layOut();
    this.moved(true);
  }

  /** Brings a row into sight, its top `above` pixels above the upper edge. */
  show(id: string, above = -8): void {
    const index = this.index.get(id);
    if (index !== undefined) {
      this.following = false;
      this.layOut({ id, above });
      this.moved(false);
    }
  }

  /** Focuses a row; without an id the one that had the focus last, or the last one. */
  focus(id = this.active ?? this.ids.at(-1)): void {
    if (id === undefined) {
      return;
    }
    this.active = id;
    const row = this.drawn.get(id);
    const bounds = this.frame.getBoundingClientRect();
    const rect = row?.getBoundingClientRect();
    if (rect === undefined || rect.bottom < bounds.top + 20 || rect.top > bounds.bottom - 20) {
      this.show(id);
    }
    this.drawn.get(id)?.focus({ preventScroll: true });
  }

  private top(index: number): number {
    return this.tops[index] ?? 0;
  }

  private measure(): void {
    const known = [...this.heights.values()].slice(-200);
    const guess = known.length > 0 ? known.reduce((a, b) => a + b, 0) / known.length : GUESS;
    const tops = new Array<number>(this.ids.length + 1);
    let top = 0;
    for (let index = 0; index < this.ids.length; index++) {
      tops[index] = top;
      top += this.heights.get(this.ids[index] as string) ?? guess;
    }
    tops[this.ids.length] = top;
    this.tops = tops;
  }

  /** The first row that can be seen. */
  private anchor(): Place | undefined {
    const { scrollTop } = this.frame;
    const index = this.find(scrollTop);
    const id = this.ids[index];
    return id === undefined ? undefined : { id, above: scrollTop - this.top(index) };
  }

  /** The row at a height. */
  private find(y: number): number {
    let low = 0;
    let high = this.ids.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.top(middle + 1) <= y) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private layOut(anchor?: Place): void {
    if (this.frame.clientHeight === 0) {
      this.wanted = anchor ?? this.wanted;
      return; // hidden: nothing has a height or a place
    }
    this.wanted = undefined;
    // Rows that are drawn for the first time tell their height, which may bring others into sight.
    for (let round = 0; round < 4; round++) {
      this.setHeight(this.top(this.ids.length));
      this.keepPlace(anchor);
      if (!this.drawVisible()) {
        return;
      }
      this.measure();
    }
    this.setHeight(this.top(this.ids.length));
    this.keepPlace(anchor);
    this.position();
  }

  private keepPlace(anchor?: Place): void {
    if (this.following) {
      this.scrollTo(this.height - this.frame.clientHeight);
    } else if (anchor !== undefined) {
      const index = this.index.get(anchor.id);
      if (index !== undefined) {
        this.scrollTo(this.top(index) + anchor.above);
      }
    }
  }

  private scrollTo(top: number): void {
    if (Math.abs(this.frame.scrollTop - top) >= 1) {
      this.frame.scrollTop = top;
    }
  }

  private setHeight(height: number): void {
    if (height !== this.height) {
      this.height = height;
      this.canvas.style.height = `${height}px`;
    }
  }

  /** Draws what is in sight and takes away what is not; true when a height was not as thought. */
  private drawVisible(): boolean {
    const { scrollTop, clientHeight } = this.frame;
    const first = this.find(Math.max(0, scrollTop - MARGIN));
    const end = Math.min(this.find(scrollTop + clientHeight + MARGIN) + 1, this.ids.length);
    const kept = this.held();
    for (const [id, row] of this.drawn) {
      const index = this.index.get(id) ?? -1;
      if ((index < first || index >= end) && !kept.has(row)) {
        this.remove(id, row);
      }
    }
    const fresh: [string, HTMLElement][] = [];
    let before: HTMLElement | null = null;
    for (let index = end - 1; index >= first; index--) {
      const id = this.ids[index] as string;
      let row = this.drawn.get(id);
      if (row === undefined) {
        row = this.add(id, index);
        fresh.push([id, row]);
        this.canvas.insertBefore(row, before ?? this.after(index));
      }
      before = row;
    }
    this.position();
    return this.learn(fresh);
  }

  /** The first row in the page behind a place. */
  private after(index: number): HTMLElement | null {
    for (const child of this.canvas.children) {
      if ((this.index.get((child as HTMLElement).dataset.id ?? '') ?? -1) > index) {
        return child as HTMLElement;
      }
    }
    return null;
  }

  private learn(fresh: [string, HTMLElement][]): boolean {
    let isDifferent = false;
    for (const [id, row] of fresh) {
      const height = row.offsetHeight;
      if (this.heights.get(id) !== height) {
        this.heights.set(id, height);
        isDifferent = true;
      }
    }
    return isDifferent;
  }

  private add(id: string, index: number): HTMLElement {
    const row = this.rows.draw(id);
    row.classList.add('row');
    row.dataset.id = id;
    row.setAttribute('role', 'article');
    row.setAttribute('aria-posinset', String(index + 1));
    row.setAttribute('aria-setsize', String(this.ids.length));
    row.tabIndex = id === (this.active ?? this.ids.at(-1)) ? 0 : -1;
    this.drawn.set(id, row);
    this.observer.observe(row);
    return row;
  }

  private remove(id: string, row: HTMLElement): void {
    this.observer.unobserve(row);
    row.remove();
    this.drawn.delete(id);
    this.rows.gone(id);
  }

  private position(): void {
    const active = this.active !== undefined && this.index.has(this.active);
    for (const [id, row] of this.drawn) {
      const index = this.index.get(id) ?? 0;
      row.style.transform = `translateY(${this.top(index)}px)`;
      const tabIndex = id === (active ? this.active : this.ids.at(-1)) ? 0 : -1;
      if (row.tabIndex !== tabIndex) {
        row.tabIndex = tabIndex;
      }
      const size = String(this.ids.length);
      if (row.getAttribute('aria-setsize') !== size) {
        row.setAttribute('aria-setsize', size);
      }
    }
  }

  /** Rows that must stay: taking them away would take the focus or the selection away. */
  private held(): Set<Element> {
    const held = new Set<Element>();
    const selection = document.getSelection();
    const nodes = [document.activeElement];
    if (selection !== null && !selection.isCollapsed) {
      nodes.push(elementOf(selection.anchorNode), elementOf(selection.focusNode));
    }
    for (const node of nodes) {
      const row = node?.closest('.long-list > .row');
      if (row) {
        held.add(row);
      }
    }
    return held;
  }

  private resized(changes: ResizeObserverEntry[]): void {
    const anchor = this.following ? undefined : (this.wanted ?? this.anchor());
    let isDifferent = false;
    for (const { target } of changes) {
      const id = (target as HTMLElement).dataset.id;
      if (target === this.frame) {
        isDifferent = true;
      } else if (id !== undefined && this.drawn.get(id) === target) {
        const height = (target as HTMLElement).offsetHeight;
        if (height > 0 && this.heights.get(id) !== height) {
          this.heights.set(id, height);
          isDifferent = true;
        }
      }
    }
    if (isDifferent && this.frame.clientHeight > 0) {
      this.measure();
      this.layOut(anchor);
    }
  }

  private scrolled(): void {
    const { scrollTop, clientHeight } = this.frame;
    if (clientHeight === 0) {
      return;
    }
    const atEnd = scrollTop + clientHeight >= this.height - AT_END;
    if (atEnd !== this.following) {
      this.following = atEnd;
      this.moved(atEnd);
    }
    if (this.drawVisible()) {
      const anchor = this.following ? undefined : this.anchor();
      this.measure();
      this.layOut(anchor);
    }
  }

  private leaveEnd(): void {
    if (this.following && this.frame.scrollTop > 0) {
      this.following = false;
      this.moved(false);
    }
  }

  private focused(event: FocusEvent): void {
    const row = (event.target as Element).closest<HTMLElement>('.long-list > .row');
    if (row?.dataset.id !== undefined && row.dataset.id !== this.active) {
      this.active = row.dataset.id;
      this.position();
    }
  }

  private key(event: KeyboardEvent): void {
    const row = event.target as HTMLElement;
    const isRow = row.parentElement === this.canvas;
    if (event.key === 'Escape' && !isRow) {
      const own = row.closest<HTMLElement>('.long-list > .row');
      if (own !== null && !event.defaultPrevented) {
        own.focus();
        event.preventDefault();
        event.stopPropagation();
      }
      return;
    }
    if (!isRow || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const at = this.index.get(row.dataset.id ?? '') ?? 0;
    const to: Record<string, number> = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      Home: 0,
      End: this.ids.length - 1,
    };
    const next = to[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.focus(this.ids[Math.min(Math.max(next, 0), this.ids.length - 1)]);
      if (event.key === 'End') {
        this.toEnd();
      }
    }
  }
}

function elementOf(node: Node | null): Element | null {
  return node instanceof Element ? node : (node?.parentElement ?? null);
}
