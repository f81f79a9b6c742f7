/**
 * The graph of who uses whom: drawn by the server's layout, coloured by state, walked with the
 * arrow keys, and a click shows both sides of a function. Names are text, whatever is in them.
 */

import { svg } from 'lit/html.js';
import type { MigrationFunction, MigrationGraphResult } from '../../src/protocol';
import { html, icon, render, repeat, type Shown } from '../lit';
import { named, t } from './words';

const HEIGHT = 22;
const STEP = 1.25;
const SMALLEST = 0.1;
const LARGEST = 3;

type Node = MigrationGraphResult['nodes'][number];

export class Graph {
  readonly element = document.createElement('div');
  private graph: MigrationGraphResult | undefined;
  private states = new Map<number, MigrationFunction>();
  private out = new Map<number, Node[]>();
  private into = new Map<number, Node[]>();
  private zoom = 1;
  private at: number | undefined;
  private words = '';

  constructor(private readonly open: (id: number) => void) {
    this.element.className = 'graph-scroll';
    this.element.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  /** Takes another picture; what was chosen in the last one stays so when it is in both. */
  show(graph: MigrationGraphResult): void {
    const isFirst = this.graph === undefined;
    this.graph = graph;
    const byId = new Map(graph.nodes.map((node) => [node.id, node]));
    this.out = neighbours(graph, byId, (edge) => [edge.source, edge.target]);
    this.into = neighbours(graph, byId, (edge) => [edge.target, edge.source]);
    if (this.at === undefined || !byId.has(this.at)) {
      this.at = graph.nodes[0]?.id;
    }
    if (isFirst) {
      this.fit();
    } else {
      this.draw();
    }
  }

  /** Takes what the functions are written in. */
  colour(functions: readonly MigrationFunction[]): void {
    this.states = new Map(functions.map((it) => [it.id, it]));
    this.draw();
  }

  /** Marks what has these words in its name or place; tells how many. */
  find(words: string): number {
    this.words = words.trim().toLowerCase();
    this.draw();
    const found = this.found();
    const first = found[0];
    if (first !== undefined && this.words !== '') {
      this.at = first.id;
      this.draw();
      this.mark(first.id)?.scrollIntoView({ block: 'center', inline: 'center' });
    }
    return found.length;
  }

  zoomBy(factor: number): void {
    this.zoom = Math.min(LARGEST, Math.max(SMALLEST, this.zoom * factor));
    this.draw();
  }

  zoomIn(): void {
    this.zoomBy(STEP);
  }

  zoomOut(): void {
    this.zoomBy(1 / STEP);
  }

  /** As large as the width allows, but never so small that names cannot be read. */
  fit(): void {
    const { graph } = this;
    if (graph !== undefined && graph.width > 0) {
      const room = this.element.clientWidth - 4;
      this.zoom = Math.min(1.2, Math.max(0.6, room / graph.width));
    }
    this.draw();
  }

  private draw(): void {
    render(this.picture(), this.element);
  }

  private picture(): Shown {
    const { graph, zoom } = this;
    if (graph === undefined) {
      return html`<p class="nothing">${t('loading')}</p>`;
    }
    if (graph.nodes.length === 0) {
      const text = graph.omitted > 0 ? t('graph.tooMany', { n: graph.omitted }) : t('graph.none');
      return html`<p class="nothing">${text}</p>`;
    }
    return html`<svg
      role="group"
      aria-label=${t('graph.label', { n: graph.nodes.length })}
      width=${Math.round(graph.width * zoom)}
      height=${Math.round(graph.height * zoom)}
      viewBox="0 0 ${graph.width} ${graph.height}"
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    >
      <defs>
        <marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 1L7 4L0 7z" />
        </marker>
      </defs>
      ${graph.edges.map(
        ({ source, target, points }) =>
          svg`<path
            class=${source === this.at || target === this.at ? 'edge near' : 'edge'}
            d=${pathOf(points)}
            marker-end="url(#to)"
          />`,
      )}
      ${repeat(
        graph.nodes,
        ({ id }) => id,
        (node) => this.node(node),
      )}
    </svg>`;
  }

  private node(node: Node) {
    const it = node.kind === 'function' ? this.states.get(node.id) : undefined;
    const state = it?.state ?? node.kind;
    const matches = this.words !== '' && this.matches(node);
    const spoken = t('node', {
      name: node.name,
      state: it === undefined ? named('kind', node.kind) : named('state', it.state),
      place: `${node.path}:${node.line}`,
      out: this.out.get(node.id)?.length ?? 0,
      into: this.into.get(node.id)?.length ?? 0,
    });
    return svg`<g
      class=${`node is-${state}${matches ? ' match' : ''}`}
      role="button"
      tabindex=${node.id === this.at ? 0 : -1}
      data-id=${node.id}
      aria-label=${spoken}
      @click=${() => this.choose(node, true)}
      @focus=${() => this.choose(node, false)}
    >
      <title>${spoken}</title>
      <rect x=${node.x} y=${node.y} width=${node.width} height=${HEIGHT} rx="4" />
      <text x=${node.x + node.width / 2} y=${node.y + HEIGHT / 2 + 4} text-anchor="middle">${node.name}</text>
    </g>`;
  }

  private choose(node: Node, opens: boolean): void {
    if (this.at !== node.id) {
      this.at = node.id;
      this.draw();
    }
    if (opens && node.kind === 'function') {
      this.open(node.id);
    }
  }

  /** Right and left along the lines, up and down in the column. */
  private key(event: KeyboardEvent): void {
    const { at, graph } = this;
    const node = graph?.nodes.find(({ id }) => id === at);
    if (node === undefined || graph === undefined) {
      return;
    }
    const column = graph.nodes.filter(({ x }) => x === node.x);
    const place = column.indexOf(node);
    const goals: Record<string, Node | undefined> = {
      ArrowRight: this.out.get(node.id)?.[0],
      ArrowLeft: this.into.get(node.id)?.[0],
      ArrowDown: column[place + 1],
      ArrowUp: column[place - 1],
      Home: graph.nodes[0],
      End: graph.nodes.at(-1),
    };
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.choose(node, true);
    } else if (event.key in goals) {
      event.preventDefault();
      const goal = goals[event.key];
      if (goal !== undefined) {
        this.choose(goal, false);
        this.mark(goal.id)?.focus();
        this.mark(goal.id)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    } else if (event.key === '+' || event.key === '-') {
      this.zoomBy(event.key === '+' ? STEP : 1 / STEP);
    }
  }

  private wheel(event: WheelEvent): void {
    if (event.ctrlKey) {
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? STEP : 1 / STEP);
    }
  }

  private mark(id: number): SVGGElement | null {
    return this.element.querySelector<SVGGElement>(`g[data-id="${id}"]`);
  }

  private found(): Node[] {
    return this.words === '' ? [] : (this.graph?.nodes ?? []).filter((node) => this.matches(node));
  }

  private matches({ name, path }: Node): boolean {
    return `${name} ${path}`.toLowerCase().includes(this.words);
  }
}

/** The buttons that go with a graph. */
export function zoomButtons(graph: Graph): Shown {
  const button = (name: string, label: string, run: () => void) =>
    html`<button type="button" class="icon-button" title=${label} aria-label=${label} @click=${run}>
      ${icon(name)}
    </button>`;
  return html`${button('zoom-out', t('graph.zoomOut'), () => graph.zoomOut())}
  ${button('zoom-in', t('graph.zoomIn'), () => graph.zoomIn())}
  ${button('screen-full', t('graph.fit'), () => graph.fit())}`;
}

function neighbours(
  graph: MigrationGraphResult,
  byId: Map<number, Node>,
  ends: (edge: MigrationGraphResult['edges'][number]) => [from: number, to: number],
): Map<number, Node[]> {
  const found = new Map<number, Node[]>();
  for (const edge of graph.edges) {
    const [from, to] = ends(edge);
    const node = byId.get(to);
    if (node !== undefined) {
      found.set(from, [...(found.get(from) ?? []), node]);
    }
  }
  for (const list of found.values()) {
    list.sort((a, b) => a.y - b.y);
  }
  return found;
}

/** A line through points, bent softly between layers. */
function pathOf(points: readonly number[]): string {
  let path = `M${points[0]} ${points[1]}`;
  for (let at = 2; at + 1 < points.length; at += 2) {
    const [x = 0, y = 0, toX = 0, toY = 0] = points.slice(at - 2, at + 2);
    const middle = (x + toX) / 2;
    path += y === toY ? `L${toX} ${toY}` : `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
  }
  return path;
}
