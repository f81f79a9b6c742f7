/** Templates: the pieces of lit the page uses, and the elements that come again and again. */

import { html, nothing, type TemplateResult } from 'lit/html.js';

export { repeat } from 'lit/directives/repeat.js';
export { html, nothing, render, type TemplateResult } from 'lit/html.js';

export type Shown = TemplateResult | typeof nothing;

export function icon(name: string, spinning = false): TemplateResult {
  const spin = spinning ? ' codicon-modifier-spin' : '';
  return html`<span class="codicon codicon-${name}${spin}" aria-hidden="true"></span>`;
}

/** A button that is only an icon; the label is its name and its tooltip. */
export function action(
  name: string,
  label: string,
  run: (event: Event) => void,
  options: { menu?: boolean; disabled?: boolean; pressed?: boolean; part?: string } = {},
): TemplateResult {
  return html`<button
    type="button"
    class="icon-button"
    title=${label}
    aria-label=${label}
    aria-haspopup=${options.menu ? 'menu' : nothing}
    aria-expanded=${options.menu ? 'false' : nothing}
    aria-pressed=${options.pressed ?? nothing}
    data-part=${options.part ?? nothing}
    ?disabled=${options.disabled ?? false}
    @click=${run}
  >
    ${icon(name)}
  </button>`;
}
