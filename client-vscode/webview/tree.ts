/**
 * A tree whose rows are drawn by the caller: one row per node, in one list, so that a node that
 * changes costs one row. Keys as in the editor's own trees.
 */

export interface TreeNode {
  id: string;
  parent?: string | undefined;
}

export interface TreeRows<N extends TreeNode> {
  /** Fills the row of a node; called again when it changed. */
  draw(node: N, row: HTMLElement): void;
  /** The user chose a node. */
  open?(node: N): void;
  /** The node that is meant now is another. */
  selected?(node: N | undefined): void;
}

interface Item<N> {
  node: N;
  depth: number;
  children: string[];
  row: HTMLElement;
}

export class Tree<N extends TreeNode> {
  readonly element = document.createElement('div');
  private readonly items = new Map<string, Item<N>>();
  private order: string[] = [];
  private active: string | undefined;

  constructor(
    label: string,
    private readonly rows: TreeRows<N>,
    private readonly collapsed: Set<string>,
    private readonly changed: () => void,
  ) {
    this.element.className = 'tree';
    this.element.setAttribute('role', 'tree');
    this.element.setAttribute('aria-label', label);
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('click', (event) => this.clicked(event));
    this.element.addEventListener('focusin', (event) => this.focused(event));
  }

  get selected(): string | undefined {
    return this.active;
  }

  /** Shows these nodes; parents come before their children. */
  show(nodes: Iterable<N>): void {
    const children = new Map<string | undefined, N[]>();
    const known = new Map<string, N>();
    for (const node of nodes) {
      known.set(node.id, node);
    }
    for (const node of known.values()) {
      const parent = node.parent !== undefined && known.has(node.parent) ? node.parent : undefined;
      const siblings = children.get(parent);
      if (siblings === undefined) {
        children.set(parent, [node]);
      } else {
        siblings.push(node);
      }
    }
    for (const [id, item] of this.items) {
      if (!known.has(id)) {
        item.row.remove();
        this.items.delete(id);
      }
    }
    this.order = [];
    const walk = (node: N, depth: number, position: number, among: number) => {
      const below = children.get(node.id) ?? [];
      const item = this.item(node, depth);
      item.children = below.map(({ id }) => id);
      this.order.push(node.id);
      const { row } = item;
      row.setAttribute('aria-level', String(depth + 1));
      row.setAttribute('aria-posinset', String(position));
      row.setAttribute('aria-setsize', String(among));
      row.style.setProperty('--depth', String(depth));
      if (below.length > 0) {
        row.setAttribute('aria-expanded', String(!this.collapsed.has(node.id)));
      } else {
        row.removeAttribute('aria-expanded');
      }
      this.rows.draw(node, row);
      if (!this.collapsed.has(node.id)) {
        for (const [index, child] of below.entries()) {
          walk(child, depth + 1, index + 1, below.length);
        }
      }
    };
    const roots = children.get(undefined) ?? [];
    for (const [index, node] of roots.entries()) {
      walk(node, 0, index + 1, roots.length);
    }
    this.arrange();
  }

  /** Draws the rows of nodes that changed, and nothing else. */
  update(nodes: Iterable<N>): void {
    for (const node of nodes) {
      const item = this.items.get(node.id);
      if (item !== undefined) {
        item.node = node;
        if (item.row.isConnected) {
          this.rows.draw(node, item.row);
        }
      }
    }
  }

  focus(id = this.active ?? this.order[0]): void {
    if (id !== undefined) {
      this.activate(id);
      this.items.get(id)?.row.focus();
    }
  }

  private item(node: N, depth: number): Item<N> {
    let item = this.items.get(node.id);
    if (item === undefined) {
      const row = document.createElement('div');
      row.className = 'tree-row';
      row.setAttribute('role', 'treeitem');
      row.dataset.id = node.id;
      row.tabIndex = -1;
      item = { node, depth, children: [], row };
      this.items.set(node.id, item);
    }
    item.node = node;
    item.depth = depth;
    return item;
  }

  /** Puts the rows in their order, moving only those that are elsewhere. */
  private arrange(): void {
    const shown = new Set(this.order);
    for (const [id, { row }] of this.items) {
      if (!shown.has(id)) {
        row.remove();
      }
    }
    let at = this.element.firstElementChild;
    for (const id of this.order) {
      const row = this.items.get(id)?.row;
      if (row === undefined) {
        continue;
      }
      if (row === at) {
        at = at.nextElementSibling;
      } else {
        this.element.insertBefore(row, at);
      }
    }
    if (this.active === undefined || !shown.has(this.active)) {
      this.activate(this.order[0]);
    }
  }

  private activate(id: string | undefined): void {
    if (this.active !== undefined) {
      this.mark(this.active, false);
    }
    const isAnother = this.active !== id;
    this.active = id;
    if (id !== undefined) {
      this.mark(id, true);
    }
    if (isAnother) {
      this.rows.selected?.(id === undefined ? undefined : this.items.get(id)?.node);
    }
  }

  private mark(id: string, isActive: boolean): void {
    const row = this.items.get(id)?.row;
    if (row !== undefined) {
      row.tabIndex = isActive ? 0 : -1;
      row.setAttribute('aria-selected', String(isActive));
    }
  }

  private focused(event: FocusEvent): void {
    const id = (event.target as HTMLElement).closest<HTMLElement>('.tree-row')?.dataset.id;
    if (id !== undefined && id !== this.active) {
      this.activate(id);
    }
  }

  private clicked(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const id = target.closest<HTMLElement>('.tree-row')?.dataset.id;
    if (id === undefined || target.closest('button')) {
      return;
    }
    if (target.closest('.twisty')) {
      this.fold(id);
      return;
    }
    const wasActive = this.active === id;
    this.focus(id);
    if (wasActive || event.detail === 2) {
      const node = this.items.get(id)?.node;
      if (node !== undefined && event.detail === 2) {
        this.rows.open?.(node);
      }
    }
  }

  private fold(id: string, folded = !this.collapsed.has(id)): void {
    if (folded) {
      this.collapsed.add(id);
    } else {
      this.collapsed.delete(id);
    }
    this.changed();
  }

  private key(event: KeyboardEvent): void {
    const row = event.target as HTMLElement;
    const id = row.dataset.id;
    const item = id === undefined ? undefined : this.items.get(id);
    if (event.key === 'Escape' && item === undefined && this.active !== undefined) {
      this.focus();
      event.preventDefault();
      return;
    }
    if (item === undefined || id === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const at = this.order.indexOf(id);
    const isFolded = this.collapsed.has(id);
    const hasChildren = item.children.length > 0;
    if (event.key === 'ArrowDown') {
      this.focus(this.order[Math.min(at + 1, this.order.length - 1)]);
    } else if (event.key === 'ArrowUp') {
      this.focus(this.order[Math.max(at - 1, 0)]);
    } else if (event.key === 'Home') {
      this.focus(this.order[0]);
    } else if (event.key === 'End') {
      this.focus(this.order.at(-1));
    } else if (event.key === 'ArrowRight') {
      if (hasChildren && isFolded) {
        this.fold(id, false);
      } else if (hasChildren) {
        this.focus(item.children[0]);
      }
    } else if (event.key === 'ArrowLeft') {
      if (hasChildren && !isFolded) {
        this.fold(id, true);
      } else if (item.node.parent !== undefined && this.items.has(item.node.parent)) {
        this.focus(item.node.parent);
      }
    } else if (event.key === 'Enter') {
      this.rows.open?.(item.node);
    } else {
      return;
    }
    event.preventDefault();
  }
}
