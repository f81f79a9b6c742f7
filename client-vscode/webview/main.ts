/**
 * The page of the side panel. It knows only the bridge to the extension and the events that come
 * over it; everything it shows can be built again from one snapshot.
 */

import '@vscode-elements/elements/dist/vscode-badge/index.js';
import '@vscode-elements/elements/dist/vscode-button/index.js';
import '@vscode-elements/elements/dist/vscode-tab-header/index.js';
import '@vscode-elements/elements/dist/vscode-tab-panel/index.js';
import '@vscode-elements/elements/dist/vscode-tabs/index.js';
import { App } from './app';
import { chooseLanguage } from './strings';
import type { PanelStart } from './wire';

const start = JSON.parse(document.getElementById('panel-start')?.textContent ?? '{}') as PanelStart;
chooseLanguage(start.locale ?? 'en');
const root = document.getElementById('app');
if (root !== null) {
  root.setAttribute('role', 'main');
  const heading = document.createElement('h1');
  heading.className = 'spoken';
  heading.textContent = 'Jarvis';
  root.append(heading);
  void new App(root, start).begin();
}
