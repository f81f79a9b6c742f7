/** How full the context is, by what fills it, and what the session has cost. */

import { html, icon, nothing, render, type TemplateResult } from '../lit';
import type { Page } from '../page';
import { cost, type Key, number, short, t } from '../strings';
import type { Meter, Usage } from '../wire';

const PARTS = ['system', 'rules', 'tools', 'memory', 'files', 'history'];
/** From here on the context is said to be nearly full. */
const NEARLY_FULL = 0.8;

export class MeterView {
  readonly element = document.createElement('div');
  private isOpen = false;
  private meter: Meter | undefined;
  private usage: Usage | undefined;

  constructor(private readonly page: Page) {
    this.element.className = 'meter';
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.isOpen) {
        this.toggle();
        event.stopPropagation();
      }
    });
  }

  draw(meter: Meter | undefined, usage: Usage | undefined): void {
    this.meter = meter;
    this.usage = usage;
    const used = Object.values(meter?.parts ?? {}).reduce((sum, it) => sum + it, 0);
    const window = meter?.window ?? 0;
    const share = window > 0 ? used / window : 0;
    const spent = usage !== undefined && usage.input + usage.output > 0;
    this.element.hidden = !(spent || window > 0);
    if (this.element.hidden) {
      return;
    }
    const percent = Math.min(100, Math.round(share * 100));
    const tokens = short((usage?.input ?? 0) + (usage?.output ?? 0));
    const label = t('meter.label', { percent, tokens, cost: cost(usage?.cost ?? 0) });
    render(
      html`${this.isOpen ? this.details(used, window) : nothing}
        <button
          type="button"
          class="meter-button"
          aria-expanded=${String(this.isOpen)}
          title=${label}
          @click=${() => this.toggle()}
        >
          ${window > 0 ? html`<progress max="100" value=${percent} ?data-full=${share >= NEARLY_FULL} aria-hidden="true"></progress><span class="spoken">${t('meter.context')}</span><span>${percent}%</span>` : nothing}
          <span class="space"></span>
          <span>${t('meter.tokens', { tokens })}</span>
          ${(usage?.cost ?? 0) > 0 ? html`<span class="spoken">${t('meter.cost')}</span><span>${icon('credit-card')} ${cost(usage?.cost ?? 0)}</span>` : nothing}
        </button>`,
      this.element,
    );
  }

  private toggle(): void {
    this.isOpen = !this.isOpen;
    this.draw(this.meter, this.usage);
    this.page.remember();
  }

  private details(used: number, window: number): TemplateResult {
    const { meter, usage } = this;
    const parts = Object.entries(meter?.parts ?? {}).sort((a, b) => b[1] - a[1]);
    return html`<div class="meter-details" role="group" aria-label=${t('meter.details')}>
      ${
        window > 0
          ? html`<div class="meter-line">
              <strong>${t('meter.context')}</strong
              ><span>${number(used)} / ${number(window)}</span>
            </div>`
          : nothing
      }
      ${parts.map(
        ([name, tokens]) =>
          html`<div class="meter-line">
            <span>${PARTS.includes(name) ? t(`meter.${name}` as Key) : name}</span>
            <progress max=${Math.max(used, 1)} value=${tokens} aria-hidden="true"></progress>
            <span class="figure">${number(tokens)}</span>
          </div>`,
      )}
      ${usage === undefined ? nothing : usageLines(usage)}
    </div>`;
  }
}

function usageLines(usage: Usage): TemplateResult {
  const lines: [Key, string][] = [
    ['meter.input', number(usage.input)],
    ['meter.cached', number(usage.cached)],
    ['meter.output', number(usage.output)],
    ['meter.reasoning', number(usage.reasoning)],
    ['meter.cost', usage.cost > 0 ? cost(usage.cost) : t('meter.noPrice')],
  ];
  return html`<div class="meter-line"><strong>${t('meter.session')}</strong></div>
    ${lines.map(
      ([key, value]) =>
        html`<div class="meter-line"><span>${t(key)}</span><span class="figure">${value}</span></div>`,
    )}`;
}
