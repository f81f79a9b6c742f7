/** Small native buttons with an icon: every one has a name for screen readers and a tooltip. */

import { t } from './strings';

/** A codicon, hidden from screen readers. */
export function icon(name: string): HTMLSpanElement {
  const element = document.createElement('span');
  element.className = `codicon codicon-${name}`;
  element.setAttribute('aria-hidden', 'true');
  return element;
}

/** A button that is only an icon. */
export function iconButton(name: string, label: string, run: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'icon-button';
  button.title = label;
  button.setAttribute('aria-label', label);
  button.append(icon(name));
  button.addEventListener('click', (event) => {
    event.stopPropagation();
    run();
  });
  return button;
}

const COPIED_MS = 1500;

/** A button that copies a text and says that it did. */
export function copyButton(text: () => string): HTMLButtonElement {
  const button = iconButton('copy', t('copy'), () => {
    void navigator.clipboard.writeText(text()).then(() => {
      button.replaceChildren(icon('check'));
      button.title = t('copied');
      button.setAttribute('aria-label', t('copied'));
      setTimeout(() => {
        button.replaceChildren(icon('copy'));
        button.title = t('copy');
        button.setAttribute('aria-label', t('copy'));
      }, COPIED_MS);
    });
  });
  return button;
}
