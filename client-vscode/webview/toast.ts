/** A line at the lower edge that says something of passing interest, with a way back where one is. */

import { action, html, nothing, render } from './lit';
import { t } from './strings';

const SHOWN_MS = 6000;

export class Toast {
  readonly element = document.createElement('div');
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.element.className = 'toast';
    this.element.setAttribute('role', 'status');
  }

  show(text: string, undo?: { label: string; run: () => void }): void {
    clearTimeout(this.timer);
    this.element.classList.add('shown');
    render(
      html`<span>${text}</span>
        ${
          undo
            ? html`<button type="button" class="link-button" @click=${() => this.undo(undo.run)}>
                ${undo.label}
              </button>`
            : nothing
        }
        ${action('close', t('close'), () => this.hide())}`,
      this.element,
    );
    this.wait();
  }

  private undo(run: () => void): void {
    run();
    this.hide();
  }

  /** A line that is read with the pointer or the keyboard stays. */
  private wait(): void {
    this.timer = setTimeout(() => {
      if (this.element.matches(':hover, :focus-within')) {
        this.wait();
      } else {
        this.hide();
      }
    }, SHOWN_MS);
  }

  private hide(): void {
    clearTimeout(this.timer);
    this.element.classList.remove('shown');
    render(nothing, this.element);
  }
}
