/**
 * The overview of a migration: the stages as a bar, how much is in Rust, the graph, what stays in C
 * and why, the tests, and what cargo said. Everything comes from the extension, which has it from
 * the server; the page runs nothing and loads nothing.
 */

import { svg } from 'lit/html.js';
import type {
  GraphAsk,
  OverviewAction,
  OverviewAsk,
  OverviewStart,
  OverviewTell,
} from '../../src/migration-page';
import type {
  FunctionState,
  MigrationCount,
  MigrationFunction,
  MigrationPass,
  MigrationResult,
} from '../../src/protocol';
import { html, icon, nothing, render, type Shown } from '../lit';
import { onTold } from '../messages';
import { Graph, zoomButtons } from './graph';
import { chooseLanguage, named, t, time } from './words';

declare function acquireVsCodeApi(): { postMessage(message: OverviewAsk): void };

type Picture = Extract<OverviewTell, { kind: 'migration' }>;

const STATES: readonly FunctionState[] = ['idiomatic', 'baseline', 'c', 'new'];
/** Verdicts of functions that were called in C and in Rust. */
const COMPARED = new Set(['equal', 'differs']);
const RUST = new Set<FunctionState>(['idiomatic', 'baseline']);
/** What is known of a function in Rust. */
type Proof = 'verified' | 'translated' | 'differs';
const PROOFS: readonly Proof[] = ['verified', 'translated', 'differs'];
/** As `functionIcon` of the view has them. */
const PROOF_ICONS: Record<Proof, string> = {
  verified: 'verified-filled',
  translated: 'pass',
  differs: 'warning',
};
const STAGE_ICONS = { todo: 'circle-outline', running: 'sync', done: 'pass', failed: 'error' };

class Overview {
  private readonly editor = acquireVsCodeApi();
  private readonly graph = new Graph((id) => this.ask({ kind: 'show', id }));
  private picture: Picture | undefined;
  private asked: GraphAsk = { kinds: ['function'] };
  private drawnRevision = -1;
  /** The function whose graph the user asked for in the view, if any. */
  private toldRoot: number | undefined;
  private failure = '';
  private found: number | undefined;

  constructor(private readonly root: HTMLElement) {
    onTold<OverviewTell>((told) => this.take(told));
    window.addEventListener('resize', () => this.draw());
    this.draw();
    this.ask({ kind: 'ready' });
  }

  private take(told: OverviewTell): void {
    if (told?.kind === 'migration') {
      this.takeMigration(told);
    } else if (told?.kind === 'graph') {
      this.failure = '';
      this.draw(); // the place of the graph must be there to know its width
      this.graph.show(told.graph);
    } else if (told?.kind === 'failed') {
      this.failure = told.reason;
      this.draw();
    }
  }

  private takeMigration(told: Picture): void {
    const { migration, root } = told;
    const isOther = this.toldRoot !== root;
    const isNew = this.drawnRevision !== migration.revision;
    this.picture = told;
    this.toldRoot = root;
    this.draw();
    this.graph.colour(migration.functions);
    if ((isOther || isNew) && migration.functions.length > 0) {
      this.drawnRevision = migration.revision;
      const { kinds } = this.asked;
      this.askGraph(isOther ? (root === undefined ? { kinds } : { kinds, root }) : this.asked);
    }
  }

  private ask(message: OverviewAsk): void {
    this.editor.postMessage(message);
  }

  private askGraph(asked: GraphAsk): void {
    this.asked = asked;
    this.ask({ kind: 'graph', asked });
    this.draw();
  }

  private draw(): void {
    render(this.page(), this.root);
    const place = this.root.querySelector('.graph-place');
    if (place !== null && place.firstElementChild !== this.graph.element) {
      place.replaceChildren(this.graph.element);
    }
  }

  private page(): Shown {
    const { picture } = this;
    if (picture === undefined) {
      return html`<h1>${t('title')}</h1>
        <p class="nothing">${t('loading')}</p>`;
    }
    const { migration } = picture;
    if (!migration.trusted) {
      return html`<h1>${t('title')}</h1>
        <p class="nothing">${t('untrusted')}</p>`;
    }
    const isKnown = migration.functions.length > 0;
    return html`<div class="head">
        <h1>${t('title')} <span class="project">${nameOf(migration.folder)}</span></h1>
        <div class="actions">${this.actions(migration)}</div>
      </div>
      ${this.stages(picture)}
      ${this.failure === '' ? nothing : html`<p class="failure" role="alert">${this.failure}</p>`}
      ${isKnown ? countsBar(migration.functions) : html`<p class="nothing">${t('unknown')}</p>`}
      ${isKnown ? proofBar(migration) : nothing}
      ${isKnown ? this.graphSection(migration) : nothing}
      ${this.table(migration)} ${this.tests(migration)} ${lifting(migration)} ${list(t('skipped'), skippedOf(migration))}
      ${list(t('notes'), migration.notes)} ${log(migration)}`;
  }

  private actions(migration: MigrationResult): Shown {
    const button = (action: OverviewAction, name: string, isMain = false) =>
      html`<button
        type="button"
        class=${isMain ? 'button main' : 'button'}
        data-action=${action}
        @click=${() => this.ask({ kind: 'act', action })}
      >
        ${icon(name)} ${t(`action.${action}`)}
      </button>`;
    if (this.picture?.going !== undefined || migration.running) {
      return button('stop', 'debug-stop', true);
    }
    return html`${migration.resumable ? button('resume', 'debug-continue', true) : nothing}
    ${button('project', 'play', !migration.resumable)} ${button('scan', 'refresh')}
    ${migration.crate === undefined ? nothing : html`${button('verify', 'beaker')}${button('lift', 'arrow-up')}`}
    ${migration.report === undefined ? nothing : button('report', 'book')}
    ${migration.crate === undefined ? nothing : button('crate', 'package')}`;
  }

  private stages({ migration, going }: Picture): Shown {
    const names = migration.stages.map(({ name }) => name);
    const at = going === undefined ? -1 : Math.max(0, names.indexOf(going.stage));
    return html`<ol class="stages" aria-label=${t('stages')}>
      ${migration.stages.map((stage, place) => {
        const state = place === at ? 'running' : at >= 0 && place > at ? 'todo' : stage.state;
        const part = place === at && going !== undefined && going.total > 0;
        const more = part
          ? `${going.done}/${going.total}`
          : state === 'done' && stage.at !== undefined
            ? time(stage.at)
            : named('stage', state);
        return html`<li class="stage is-${state}" aria-current=${place === at ? 'step' : nothing}>
          ${icon(STAGE_ICONS[state], state === 'running')}
          <span class="stage-name">${named('stage', stage.name)}</span>
          <span class="fine">${more}</span>
          ${state === 'done' ? stage.counts.map(fewer) : nothing}
          <span class="spoken">${named('stage', state)}</span>
        </li>`;
      })}
    </ol>`;
  }

  private graphSection(migration: MigrationResult): Shown {
    const root = migration.functions.find(({ id }) => id === this.asked.root);
    const { kinds } = this.asked;
    const toggle = (kind: 'type' | 'global', label: string) =>
      html`<label class="check"
        ><input
          type="checkbox"
          data-kind=${kind}
          .checked=${kinds.includes(kind)}
          @change=${() => this.toggle(kind)}
        />
        ${label}</label
      >`;
    return html`<section aria-labelledby="graph-title">
      <div class="section-head">
        <h2 id="graph-title">${t('graph')}</h2>
        ${
          root === undefined
            ? nothing
            : html`<button type="button" class="chip" title=${t('graph.whole')} @click=${() => this.askGraph({ kinds })}>
              ${t('graph.only', { name: root.name })} ${icon('close')}
            </button>`
        }
        <span class="space"></span>
        ${toggle('type', t('graph.types'))} ${toggle('global', t('graph.globals'))}
        <input
          type="search"
          class="find"
          placeholder=${t('graph.find')}
          aria-label=${t('graph.find')}
          @input=${(event: Event) => this.find((event.target as HTMLInputElement).value)}
        />
        <span class="fine" role="status"
          >${this.found === undefined ? '' : t('graph.found', { n: this.found })}</span
        >
        ${zoomButtons(this.graph)}
      </div>
      <p class="fine">${t('graph.help')}</p>
      <div class="graph-place"></div>
    </section>`;
  }

  private toggle(kind: 'type' | 'global'): void {
    const { kinds } = this.asked;
    const next = kinds.includes(kind) ? kinds.filter((it) => it !== kind) : [...kinds, kind];
    this.askGraph({ ...this.asked, kinds: next });
  }

  private find(words: string): void {
    const count = this.graph.find(words);
    this.found = words.trim() === '' ? undefined : count;
    this.draw();
  }

  private table({ functions }: MigrationResult): Shown {
    const left = functions.filter(({ state }) => state === 'c');
    return left.length === 0
      ? nothing
      : this.rows('left', t('left'), t('left.why'), left, ({ reason }) => reason);
  }

  private tests({ functions, strength }: MigrationResult): Shown {
    const tested = functions.filter(({ tests }) => tests !== '');
    if (tested.length === 0) {
      return nothing;
    }
    const compared = tested.filter(({ tests }) => COMPARED.has(tests)).length;
    const share = t('tests.share', { compared, all: functions.length });
    const strong =
      strength === undefined || strength === null ? '' : ` ${t('tests.strength', { ...strength })}`;
    return this.rows('tests', t('tests'), t('tests.verdict'), tested, verdict, share + strong);
  }

  private rows(
    name: string,
    title: string,
    last: string,
    functions: readonly MigrationFunction[],
    told: (it: MigrationFunction) => string,
    said = '',
  ): Shown {
    return html`<section aria-labelledby="${name}-title">
      <h2 id="${name}-title">${title}</h2>
      ${said === '' ? nothing : html`<p class="fine">${said}</p>`}
      <table>
        <thead>
          <tr>
            <th scope="col">${t('left.function')}</th>
            <th scope="col">${t('left.place')}</th>
            <th scope="col">${last}</th>
          </tr>
        </thead>
        <tbody>
          ${functions.map(
            (it) => html`<tr>
              <td>
                <button type="button" class="link" @click=${() => this.ask({ kind: 'show', id: it.id })}>
                  ${it.name}
                </button>
              </td>
              <td>${it.path}:${it.range.start.line + 1}</td>
              <td>${told(it)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </section>`;
  }
}

/** What the tests of equivalence say of a function. */
function verdict({ tests, testsNote }: MigrationFunction): string {
  const name = named('test', tests);
  if (testsNote === '') {
    return name;
  }
  return tests === 'equal'
    ? t('tests.cases', { verdict: name, n: testsNote })
    : `${name}: ${testsNote}`;
}

/** How many functions are in which state, as one bar and in words. */
function countsBar(functions: readonly MigrationFunction[]): Shown {
  const shares = STATES.map((state) => ({
    kind: state,
    words: named('state', state),
    n: functions.filter((it) => it.state === state).length,
  }));
  return bar(shares, (parts) => t('counts', { all: functions.length, parts }));
}

/** How many of the functions in Rust behave like the C, and how strong the tests are that say so. */
function proofBar({ functions, strength }: MigrationResult): Shown {
  const inRust = functions.filter(({ state }) => RUST.has(state));
  const shares = PROOFS.map((kind) => ({
    kind,
    words: named('proof', kind),
    n: inRust.filter((it) => proofOf(it) === kind).length,
  }));
  const verified = shares.find(({ kind }) => kind === 'verified')?.n ?? 0;
  if (shares.every(({ kind, n }) => kind === 'translated' || n === 0)) {
    return nothing;
  }
  const mutants =
    strength === undefined || strength === null ? '' : `, ${t('proof.mutants', { ...strength })}`;
  const headline = t('proof.headline', { verified, all: inRust.length }) + mutants;
  return html`<p class="headline">${headline}</p>
    ${bar(shares, (parts) => `${headline}: ${parts}`)}`;
}

function proofOf({ tests }: MigrationFunction): Proof {
  return tests === 'equal' ? 'verified' : tests === 'differs' ? 'differs' : 'translated';
}

interface Share {
  kind: FunctionState | Proof;
  words: string;
  n: number;
}

/** Shares of a whole as one bar, and in words below it. */
function bar(shares: readonly Share[], label: (parts: string) => string): Shown {
  const counted = shares.filter(({ n }) => n > 0);
  const all = counted.reduce((sum, { n }) => sum + n, 0);
  let from = 0;
  const pieces = counted.map(({ kind, n }) => {
    const x = (from / all) * 1000;
    from += n;
    return { kind, x, width: (n / all) * 1000 };
  });
  return html`<div class="counts">
    <svg
      class="bar"
      role="img"
      aria-label=${label(counted.map(({ words, n }) => `${words} ${n}`).join(', '))}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
    >
      ${pieces.map(
        ({ kind, x, width }) =>
          svg`<rect class=${`piece is-${kind}`} x=${x} y="0" width=${width} height="10" />`,
      )}
    </svg>
    <ul class="legend">
      ${counted.map(({ kind, words, n }) => html`<li>${mark(kind)}${words} ${n}</li>`)}
    </ul>
  </div>`;
}

/** What stands for a share in the legend: an icon where the view has the same, else a swatch. */
function mark(kind: Share['kind']): Shown {
  return kind in PROOF_ICONS
    ? html`<span class="proof is-${kind}">${icon(PROOF_ICONS[kind as Proof])}</span>`
    : html`<span class="swatch is-${kind}" aria-hidden="true"></span>`;
}

function list(title: string, lines: readonly string[]): Shown {
  return lines.length === 0
    ? nothing
    : html`<section>
        <h2>${title}</h2>
        <ul class="lines">
          ${lines.map((line) => html`<li>${line}</li>`)}
        </ul>
      </section>`;
}

function skippedOf({ skipped }: MigrationResult): string[] {
  return skipped.map(({ path, reason }) => `${path}: ${reason}`);
}

/** What a stage has made less of. */
function fewer({ name, before, after }: MigrationCount): Shown {
  return html`<span class="fine">${named('count', name)} ${before} → ${after}</span>`;
}

/** What each pass of lifting did, and what it took back. */
function lifting({ passes }: MigrationResult): Shown {
  const names = passes.find(({ kept }) => kept)?.counts.map(({ name }) => name) ?? [];
  if (passes.length === 0) {
    return nothing;
  }
  const cell = ({ counts }: MigrationPass, wanted: string) => {
    const found = counts.find(({ name }) => name === wanted);
    const more = found === undefined ? 0 : found.after - found.before;
    return more === 0 ? '' : more < 0 ? `−${-more}` : `+${more}`;
  };
  return html`<section aria-labelledby="lifting-title">
    <h2 id="lifting-title">${t('lifting')}</h2>
    <p class="fine">${t('lifting.help')}</p>
    <div class="wide" tabindex="0" role="group" aria-labelledby="lifting-title"><table>
      <thead>
        <tr>
          <th scope="col">${t('lifting.pass')}</th>
          <th scope="col">${t('lifting.changed')}</th>
          <th scope="col">${t('lifting.refused')}</th>
          ${names.map((name) => html`<th scope="col">${named('count', name)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${passes.map(
          (it) => html`<tr>
            <th scope="row">${named('pass', it.name)}</th>
            ${
              it.kept
                ? html`<td>${it.changed}</td>
                  <td>${it.refused || ''}</td>
                  ${names.map((name) => html`<td>${cell(it, name)}</td>`)}`
                : html`<td colspan=${2 + names.length}>
                    ${it.why}${it.refused > 0 ? ` (${t('lifting.refused')}: ${it.refused})` : ''}
                  </td>`
            }
          </tr>`,
        )}
      </tbody>
    </table></div>
  </section>`;
}

function log({ log: text, stages }: MigrationResult): Shown {
  const built = stages.some(({ name, state }) => name === 'build' && state !== 'todo');
  if (!built) {
    return nothing;
  }
  return html`<section aria-labelledby="log-title">
    <h2 id="log-title">${t('log')}</h2>
    ${
      text.trim() === ''
        ? html`<p class="fine">${t('log.none')}</p>`
        : html`<pre class="log" tabindex="0" role="group" aria-labelledby="log-title">${text}</pre>`
    }
  </section>`;
}

function nameOf(folder: string): string {
  return decodeURIComponent(folder.split('/').pop() ?? '');
}

const start = JSON.parse(
  document.getElementById('panel-start')?.textContent ?? '{}',
) as OverviewStart;
chooseLanguage(start.locale ?? 'en');
const root = document.getElementById('app');
if (root !== null) {
  root.setAttribute('role', 'main');
  new Overview(root);
}
