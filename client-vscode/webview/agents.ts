/**
 * The tree of agents as it works: what each does, how far it is, what it spends; and the ways to
 * pause, resume, redirect, cancel, try again and limit one and all below it.
 */

import { action, html, icon, nothing, render, type TemplateResult } from './lit';
import { type MenuItem, openMenu } from './menu';
import type { Page, View } from './page';
import type { Changes } from './store';
import { cost, counted, type Key, number, short, t } from './strings';
import { Tree } from './tree';
import type { Control, NodeInfo, NodeState } from './wire';

const STATE_ICONS: Record<NodeState, string> = {
  created: 'circle-large-outline',
  running: 'loading',
  paused: 'debug-pause',
  completed: 'pass',
  failed: 'error',
  cancelled: 'circle-slash',
};
/** What may be done in which state. */
const CONTROLS: Record<NodeState, Control[]> = {
  created: ['cancel'],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  completed: [],
  failed: ['retry'],
  cancelled: ['retry'],
};
const CONTROL_ICONS: Record<Control, string> = {
  pause: 'debug-pause',
  resume: 'debug-continue',
  cancel: 'debug-stop',
  retry: 'refresh',
};

type Form = 'redirect' | 'budget';

export class AgentsView implements View {
  readonly element = document.createElement('div');
  private readonly head = document.createElement('div');
  private readonly detail = document.createElement('div');
  private readonly empty = document.createElement('p');
  private readonly collapsed: Set<string>;
  private readonly tree: Tree<NodeInfo>;
  private form: Form | undefined;

  constructor(private readonly page: Page) {
    this.element.className = 'agents';
    this.head.className = 'agents-head';
    this.detail.className = 'detail';
    this.empty.className = 'nothing';
    this.empty.textContent = t('agents.none');
    this.collapsed = new Set(page.kept.collapsed);
    this.tree = new Tree<NodeInfo>(
      t('agents.label'),
      {
        draw: (node, row) => this.drawRow(node, row),
        open: (node) => this.page.look(node.id),
        selected: () => {
          this.form = undefined;
          this.drawDetail();
        },
      },
      this.collapsed,
      () => {
        this.page.kept.collapsed = [...this.collapsed].slice(-500);
        this.page.remember();
        this.draw();
      },
    );
    this.tree.element.addEventListener('keydown', (event) => this.key(event));
    this.element.append(this.head, this.empty, this.tree.element, this.detail);
  }

  draw(changes?: Changes): void {
    const nodes = this.page.store.session?.nodes ?? new Map<string, NodeInfo>();
    this.empty.hidden = nodes.size > 0;
    this.tree.element.hidden = nodes.size === 0;
    this.head.hidden = nodes.size === 0;
    if (changes === undefined || changes.everything || changes.tree) {
      this.tree.show(nodes.values());
    } else if (changes.nodes.size > 0) {
      const changed = [...changes.nodes]
        .map((id) => nodes.get(id))
        .filter((it) => it !== undefined);
      this.tree.update(changed);
    } else {
      return;
    }
    this.drawHead(nodes);
    const selected = this.tree.selected;
    const mine = changes === undefined || changes.everything || changes.tree;
    if (mine || (selected !== undefined && changes.nodes.has(selected))) {
      this.drawDetail();
    }
  }

  private get selected(): NodeInfo | undefined {
    const id = this.tree.selected;
    return id === undefined ? undefined : this.page.store.session?.nodes.get(id);
  }

  private drawHead(nodes: Map<string, NodeInfo>): void {
    const counts = new Map<NodeState, number>();
    for (const { state } of nodes.values()) {
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    const states = (['running', 'paused', 'failed'] as const).filter((it) => counts.has(it));
    const usage = this.page.store.session?.root?.subtree;
    const spent = usage && usage.cost > 0 ? ` · ${cost(usage.cost)}` : '';
    render(
      html`<span>${counted('agents', nodes.size)}</span>
        ${states.map((it) => html`<span class="fine">${icon(STATE_ICONS[it])} ${counts.get(it)} ${t(`node.${it}`)}</span>`)}
        <span class="space"></span>
        <span class="fine">${usage ? t('meter.tokens', { tokens: short(usage.input + usage.output) }) : nothing}${spent}</span>`,
      this.head,
    );
  }

  /** Written by hand and not by a template: 200 of these change ten times a second. */
  private drawRow(node: NodeInfo, row: HTMLElement): void {
    let cells = ROWS.get(row);
    if (cells === undefined) {
      cells = newCells(row, (event) =>
        this.menu(event.currentTarget as HTMLElement, row.dataset.id ?? ''),
      );
      ROWS.set(row, cells);
    }
    const { state } = node;
    if (cells.shown !== state) {
      cells.shown = state;
      row.dataset.state = state;
      const spin = state === 'running' ? ' codicon-modifier-spin' : '';
      cells.state.className = `state codicon codicon-${STATE_ICONS[state]}${spin}`;
      cells.state.title = t(`node.${state}`);
    }
    set(cells.title, node.title);
    set(cells.spoken, `, ${t(`node.${state}`)}, `);
    set(cells.activity, node.error || node.activity);
    const tokens = node.subtree.input + node.subtree.output;
    const price = node.subtree.cost > 0 ? ` · ${cost(node.subtree.cost)}` : '';
    set(cells.spent, tokens > 0 ? `${short(tokens)}${price}` : '');
    const { progress } = node;
    cells.progress.hidden = progress === undefined || progress === null || state !== 'running';
    if (!cells.progress.hidden) {
      cells.progress.value = progress ?? 0;
    }
  }

  private drawDetail(): void {
    const node = this.selected;
    this.detail.hidden = node === undefined;
    if (node === undefined) {
      return;
    }
    render(
      html`<div class="detail-head">
          <h2 title=${node.title}>${node.title}</h2>
          <span class="badge">${t(`kind.${node.kind}`)}</span>
        </div>
        <div class="detail-actions">
          ${action('comment-discussion', t('agents.open'), () => this.page.look(node.id))}
          ${CONTROLS[node.state].map((it) =>
            action(CONTROL_ICONS[it], t(`control.${it}`), () => this.control(node, it), {
              part: it,
            }),
          )}
          ${isOver(node) ? nothing : action('arrow-swap', t('control.redirect'), () => this.toggle('redirect'), { pressed: this.form === 'redirect', part: 'redirect' })}
          ${action('graph', t('control.budget'), () => this.toggle('budget'), { pressed: this.form === 'budget', part: 'budget' })}
        </div>
        ${this.form === 'redirect' ? this.redirectForm(node) : nothing}
        ${this.form === 'budget' ? this.budgetForm(node) : nothing}
        ${node.error ? html`<p class="banner" data-level="error">${icon('error')}${node.error}</p>` : nothing}
        <dl>
          ${line('agents.state', t(`node.${node.state}`))}
          ${node.activity ? line('agents.activity', node.activity) : nothing}
          ${node.group ? line('agents.group', node.group) : nothing}
          ${line('agents.rounds', number(node.rounds))}
          ${line('agents.own', spent(node.usage.input + node.usage.output, node.usage.cost))}
          ${line('agents.subtree', spent(node.subtree.input + node.subtree.output, node.subtree.cost))}
          ${line('agents.budget', budgetOf(node))}
        </dl>`,
      this.detail,
    );
  }

  private redirectForm(node: NodeInfo): TemplateResult {
    return html`<form class="detail-form" @submit=${(event: SubmitEvent) => this.redirect(event, node)}>
      <textarea name="text" class="field" rows="2" required aria-label=${t('redirect.label')} placeholder=${t('redirect.label')}></textarea>
      <button type="submit" class="plain-button">${t('redirect.send')}</button>
    </form>`;
  }

  private budgetForm(node: NodeInfo): TemplateResult {
    return html`<form class="detail-form" @submit=${(event: SubmitEvent) => this.setBudget(event, node)}>
      <label>${t('budget.tokens')}
        <input name="tokens" class="field" type="number" min="1" step="1" inputmode="numeric" .value=${String(node.budget.tokens ?? '')} />
      </label>
      <label>${t('budget.cost')}
        <input name="cost" class="field" type="number" min="0.0001" step="any" inputmode="decimal" .value=${String(node.budget.cost ?? '')} />
      </label>
      <p class="fine">${t('budget.hint')}</p>
      <button type="submit" class="plain-button">${t('save')}</button>
    </form>`;
  }

  private toggle(form: Form): void {
    this.form = this.form === form ? undefined : form;
    this.drawDetail();
    this.detail.querySelector<HTMLElement>('.detail-form .field')?.focus();
  }

  private async redirect(event: SubmitEvent, node: NodeInfo): Promise<void> {
    event.preventDefault();
    const text = fieldText(event, 'text').trim();
    if (text === '') {
      return;
    }
    const session = this.page.store.session?.id ?? '';
    const sent = event.currentTarget as HTMLFormElement;
    const done = await this.page.ask({ kind: 'redirect', session, node: node.id, text });
    if (done !== undefined) {
      this.close(sent, node);
    }
  }

  private async setBudget(event: SubmitEvent, node: NodeInfo): Promise<void> {
    event.preventDefault();
    const tokens = Number(fieldText(event, 'tokens'));
    const price = Number(fieldText(event, 'cost'));
    const session = this.page.store.session?.id ?? '';
    const sent = event.currentTarget as HTMLFormElement;
    const done = await this.page.ask({
      kind: 'budget',
      session,
      node: node.id,
      ...(tokens > 0 ? { tokens } : {}),
      ...(price > 0 ? { cost: price } : {}),
    });
    if (done !== undefined) {
      this.close(sent, node);
    }
  }

  /** Closes a form whose answer came, unless the user has gone on to another. */
  private close(sent: HTMLFormElement, node: NodeInfo): void {
    if (sent.isConnected) {
      this.form = undefined;
      this.drawDetail();
      this.tree.focus(node.id);
    }
  }

  private async control(node: NodeInfo, what: Control): Promise<void> {
    const session = this.page.store.session?.id ?? '';
    await this.page.ask({ kind: 'control', session, node: node.id, action: what });
  }

  private menu(anchor: HTMLElement, id: string): void {
    const node = this.page.store.session?.nodes.get(id);
    if (node === undefined) {
      return;
    }
    this.tree.focus(id);
    const forms: MenuItem[] = (['redirect', 'budget'] as const)
      .filter((it) => it === 'budget' || !isOver(node))
      .map((it) => ({
        label: t(`control.${it}`),
        icon: it === 'redirect' ? 'arrow-swap' : 'graph',
        run: () => this.toggle(it),
      }));
    openMenu(anchor, node.title, [
      { label: t('agents.open'), icon: 'comment-discussion', run: () => this.page.look(id) },
      ...CONTROLS[node.state].map((it) => ({
        label: t(`control.${it}`),
        icon: CONTROL_ICONS[it],
        run: () => void this.control(node, it),
      })),
      ...forms,
    ]);
  }

  private key(event: KeyboardEvent): void {
    const row = event.target as HTMLElement;
    const node = this.selected;
    if (row.getAttribute('role') !== 'treeitem' || node === undefined) {
      return;
    }
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      event.preventDefault();
      this.menu(row, node.id);
    } else if (event.key === 'Delete' && CONTROLS[node.state].includes('cancel')) {
      void this.control(node, 'cancel');
    } else if (event.key === ' ') {
      event.preventDefault();
      const what = CONTROLS[node.state].find((it) => it === 'pause' || it === 'resume');
      if (what !== undefined) {
        void this.control(node, what);
      }
    }
  }
}

interface Cells {
  shown: NodeState | '';
  state: HTMLElement;
  title: HTMLElement;
  /** The state for who does not see the icon. */
  spoken: HTMLElement;
  activity: HTMLElement;
  spent: HTMLElement;
  progress: HTMLProgressElement;
}

const ROWS = new WeakMap<HTMLElement, Cells>();

function newCells(row: HTMLElement, openActions: (event: Event) => void): Cells {
  const cell = (name: string, tag = 'span') => {
    const element = document.createElement(tag);
    element.className = name;
    return element;
  };
  const progress = document.createElement('progress');
  progress.max = 1;
  progress.setAttribute('aria-hidden', 'true');
  const twisty = cell('twisty codicon codicon-chevron-right');
  twisty.setAttribute('aria-hidden', 'true');
  const cells: Cells = {
    shown: '',
    state: cell('state'),
    title: cell('node-title'),
    spoken: cell('spoken'),
    activity: cell('node-activity'),
    spent: cell('node-spent'),
    progress,
  };
  cells.state.setAttribute('aria-hidden', 'true');
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'icon-button';
  more.tabIndex = -1;
  more.title = t('agents.more');
  // For the pointer: from the keyboard the menu opens on the row itself.
  more.setAttribute('aria-hidden', 'true');
  const dots = cell('codicon codicon-ellipsis');
  dots.setAttribute('aria-hidden', 'true');
  more.append(dots);
  more.addEventListener('click', openActions);
  row.append(twisty, cells.state, cells.title, cells.spoken);
  row.append(cells.activity, progress, cells.spent, more);
  return cells;
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function isOver({ state }: NodeInfo): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

function spent(tokens: number, price: number): string {
  return `${t('meter.tokens', { tokens: number(tokens) })}${price > 0 ? ` · ${cost(price)}` : ''}`;
}

function budgetOf({ budget }: NodeInfo): string {
  const parts = [
    budget.tokens ? t('meter.tokens', { tokens: number(budget.tokens) }) : '',
    budget.cost ? cost(budget.cost) : '',
  ].filter((it) => it !== '');
  return parts.length > 0 ? parts.join(' · ') : t('budget.none');
}

function line(key: Key, value: string): TemplateResult {
  return html`<div><dt>${t(key)}</dt><dd>${value}</dd></div>`;
}

function fieldText(event: SubmitEvent, name: string): string {
  const field = (event.target as HTMLFormElement).elements.namedItem(name);
  return (field as HTMLInputElement | HTMLTextAreaElement | null)?.value ?? '';
}
