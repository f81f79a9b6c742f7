/**
 * Jarvis LS for VS Code: security findings for C, C++ and Rust while you type, with no model and no
 * network. This file only lists what the extension consists of; each feature is one file below
 * `features/` that opens with what the user gets.
 */

import type { ExtensionContext } from 'vscode';
import { JarvisContext } from './context';
import * as changeCode from './features/change-code';
import * as explainRule from './features/explain-rule';
import * as findingsView from './features/findings/view';
import * as firstContact from './features/first-contact';
import * as fixFinding from './features/fix-finding';
import * as gaps from './features/gaps';
import * as importSarif from './features/import-sarif';
import * as languageTools from './features/language-tools';
import * as migration from './features/migration/migration';
import * as panel from './features/panel/panel';
import * as pathTree from './features/path-tree';
import * as prove from './features/prove';
import * as repair from './features/repair';
import * as report from './features/report';
import * as review from './features/review';
import * as scan from './features/scan';
import * as serverCommands from './features/server-commands';
import * as statusBar from './features/status-bar';
import * as suppress from './features/suppress';
import * as testRepair from './features/test-repair';
import * as toolServers from './features/tool-servers';
import * as verify from './features/verify';
import * as workspaceTrust from './features/workspace-trust';

const FEATURES = [
  statusBar,
  findingsView,
  pathTree,
  scan,
  fixFinding,
  prove,
  repair,
  verify,
  review,
  testRepair,
  changeCode,
  suppress,
  explainRule,
  migration,
  panel,
  report,
  importSarif,
  gaps,
  languageTools,
  toolServers,
  serverCommands,
  workspaceTrust,
  firstContact,
];

/** What other extensions and the tests in the extension host may ask. */
export interface JarvisApi {
  /** Process id of the running language server, if there is one. */
  serverPid(): number | undefined;
  /** Resolves when the server answers; rejects with the reason when it cannot start. */
  ready(): Promise<void>;
  /** How the tool server (MCP) of each folder of the workspace is started. */
  toolServers(): Promise<toolServers.ToolServer[]>;
}

export async function activate(extension: ExtensionContext): Promise<JarvisApi> {
  const context = new JarvisContext(extension);
  extension.subscriptions.push(context);
  for (const feature of FEATURES) {
    feature.activate(context);
  }
  // The editor need not wait for Python: commands and views are there at once.
  const started = context.start();
  return {
    serverPid: () => context.serverPid,
    ready: () => started.then(() => context.ready()),
    toolServers: () => toolServers.toolServers(context),
  };
}
