/** A menu that opens at a button: arrow keys, Home, End, letters, Escape; focus goes back. */

import { icon } from './buttons';

export interface MenuItem {
  label: string;
  icon?: string;
  /** Said in small letters below the label. */
  detail?: string;
  checked?: boolean;
  disabled?: boolean;
  run(): void;
}

let close: (() => void) | undefined;

/** Opens a menu below (or above) an element; one that is open is closed. */
export function openMenu(anchor: HTMLElement, label: string, items: readonly MenuItem[]): void {
  close?.();
  const menu = document.createElement('div');
  menu.className = 'menu';
  menu.setAttribute('role', 'menu');
  menu.setAttribute('aria-label', label);
  const buttons = items.map((item) => entry(item, (focusBack) => end(focusBack)));
  menu.append(...buttons);
  document.getElementById('app')?.append(menu);
  place(menu, anchor);
  anchor.setAttribute('aria-expanded', 'true');

  // What the menu was about is gone, for example because it was answered by a key.
  const gone = new MutationObserver(() => {
    if (!anchor.isConnected) {
      end(false);
    }
  });
  const outside = (event: Event) => {
    if (!menu.contains(event.target as Node)) {
      end(false);
    }
  };
  const end = (focusBack: boolean) => {
    close = undefined;
    gone.disconnect();
    menu.remove();
    anchor.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
    window.removeEventListener('blur', blurred);
    if (focusBack) {
      anchor.focus();
    }
  };
  const blurred = () => end(false);
  close = () => end(false);
  gone.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('pointerdown', outside, true);
  window.addEventListener('blur', blurred);
  menu.addEventListener('keydown', (event) => key(event, buttons, end));
  (buttons.find((it) => it.getAttribute('aria-checked') === 'true') ?? buttons[0])?.focus();
}

function entry(item: MenuItem, end: (focusBack: boolean) => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.tabIndex = -1;
  button.setAttribute('role', item.checked === undefined ? 'menuitem' : 'menuitemradio');
  if (item.checked !== undefined) {
    button.setAttribute('aria-checked', String(item.checked));
  }
  button.setAttribute('aria-disabled', String(item.disabled ?? false));
  button.append(icon(item.checked ? 'check' : (item.icon ?? 'blank')));
  const text = document.createElement('span');
  text.className = 'menu-label';
  text.textContent = item.label;
  button.append(text);
  if (item.detail) {
    const detail = document.createElement('span');
    detail.className = 'menu-detail';
    detail.textContent = item.detail;
    text.append(detail);
  }
  button.addEventListener('click', () => {
    if (!item.disabled) {
      end(true);
      item.run();
    }
  });
  return button;
}

function key(
  event: KeyboardEvent,
  buttons: HTMLButtonElement[],
  end: (focusBack: boolean) => void,
): void {
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const to: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1 + buttons.length,
    Home: 0,
    End: buttons.length - 1,
  };
  const next = to[event.key];
  if (next !== undefined) {
    buttons[next % buttons.length]?.focus();
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    end(true);
  } else if (event.key.length === 1 && event.key !== ' ') {
    const letter = event.key.toLowerCase();
    const ordered = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
    ordered.find((it) => it.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function place(menu: HTMLElement, anchor: HTMLElement): void {
  const { left, right, top, bottom } = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = bottom + 2 + height <= window.innerHeight;
  const x = left + width <= window.innerWidth - 4 ? left : right - width;
  menu.style.left = `${Math.max(4, Math.min(x, window.innerWidth - width - 4))}px`;
  menu.style.top = `${below ? bottom + 2 : Math.max(4, top - height - 2)}px`;
}
