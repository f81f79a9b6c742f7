/** The tabs of the panel. */

import type { VscodeTabs } from '@vscode-elements/elements/dist/vscode-tabs/index.js';
import { icon } from './buttons';
import { t } from './strings';
import type { PanelTab } from './wire';

const ORDER: PanelTab[] = ['chat', 'agents', 'explorer', 'memory', 'settings'];
const ICONS: Record<PanelTab, string> = {
  chat: 'comment-discussion',
  agents: 'type-hierarchy-sub',
  explorer: 'files',
  memory: 'book',
  settings: 'settings-gear',
};

export class Tabs {
  readonly element = document.createElement('vscode-tabs') as VscodeTabs;
  private readonly headers = new Map<PanelTab, HTMLElement>();
  private at: PanelTab = 'chat';

  constructor(
    contents: Record<PanelTab, HTMLElement>,
    private readonly changed: (tab: PanelTab) => void,
  ) {
    this.element.setAttribute('panel', '');
    this.element.setAttribute('aria-label', t('tabs.label'));
    for (const tab of ORDER) {
      const header = document.createElement('vscode-tab-header');
      header.dataset.tab = tab;
      header.slot = 'header';
      header.title = t(`tab.${tab}`);
      const mark = icon(ICONS[tab]);
      mark.classList.add('tab-icon');
      const name = document.createElement('span');
      name.className = 'tab-name';
      name.textContent = t(`tab.${tab}`);
      const label = document.createElement('span');
      label.className = 'tab-label';
      label.append(mark, name);
      header.append(label);
      header.addEventListener('keydown', (event) => {
        if (event.key === ' ') {
          event.preventDefault();
          this.show(tab);
        }
      });
      this.headers.set(tab, header);
      const panel = document.createElement('vscode-tab-panel');
      panel.append(contents[tab]);
      this.element.append(header, panel);
    }
    this.element.addEventListener('vsc-tabs-select', (event) => {
      const { selectedIndex } = (event as CustomEvent<{ selectedIndex: number }>).detail;
      this.select(ORDER[selectedIndex] ?? 'chat');
    });
  }

  get shown(): PanelTab {
    return this.at;
  }

  show(tab: PanelTab): void {
    this.element.setAttribute('selected-index', String(ORDER.indexOf(tab)));
    this.select(tab);
  }

  /** Puts a number beside a tab; none for 0. */
  mark(tab: PanelTab, count: number): void {
    const header = this.headers.get(tab);
    let badge = header?.querySelector('vscode-badge');
    if (header === undefined || count === 0) {
      badge?.remove();
      return;
    }
    if (!badge) {
      badge = document.createElement('vscode-badge');
      badge.setAttribute('variant', 'counter');
      header.firstElementChild?.append(badge);
    }
    if (badge.textContent !== String(count)) {
      badge.textContent = String(count);
    }
  }

  private select(tab: PanelTab): void {
    this.at = tab;
    this.changed(tab);
  }
}
