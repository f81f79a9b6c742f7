/**
 * Findings are sent by the server, never asked for. What VS Code asks for by itself it shows only
 * of documents that have a tab: one that is open without (another extension reads it, or its tab
 * was closed a moment ago) would lose its findings in Problems, while the findings view has them.
 */

import type { ClientCapabilities, FeatureState, StaticFeature } from 'vscode-languageclient/node';

export class PushedDiagnostics implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    delete capabilities.textDocument?.diagnostic;
    delete capabilities.workspace?.diagnostics;
  }

  initialize(): void {
    // nothing is offered in its place
  }

  getState(): FeatureState {
    return { kind: 'static' };
  }

  clear(): void {
    // and nothing is kept
  }
}
