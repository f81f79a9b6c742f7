/**
 * The pane below the list of findings: rule, message, advice, evidence, score and reason of the
 * finding that is selected, with what can be done about it as links. It runs no script.
 */

import { randomBytes } from 'node:crypto';
import {
  commands,
  type Disposable,
  env,
  l10n,
  type WebviewView,
  type WebviewViewProvider,
  window,
} from 'vscode';
import { FINDING_COMMANDS, type JarvisContext } from '../../context';
import { reason } from '../../log';
import { FINDING, type FindingItem } from '../../protocol';

const VIEW = 'jarvisLs.findingDetails';
const STYLE = `
  body { padding: 0 12px; overflow-wrap: anywhere; line-height: 1.45; }
  main a { color: var(--vscode-textLink-foreground); text-decoration: underline; }
  a:focus-visible { outline: 1px solid var(--vscode-focusBorder); }
  pre, code { font-family: var(--vscode-editor-font-family); }
  pre { padding: 6px; overflow-x: auto; background: var(--vscode-textCodeBlock-background);
    border: 1px solid var(--vscode-contrastBorder, transparent); }
  h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;

export class FindingDetailsPane implements WebviewViewProvider, Disposable {
  private view: WebviewView | undefined;
  private shown: FindingItem | undefined;
  private readonly registration: Disposable;

  constructor(private readonly context: JarvisContext) {
    this.registration = window.registerWebviewViewProvider(VIEW, this);
  }

  async resolveWebviewView(view: WebviewView): Promise<void> {
    this.view = view;
    view.webview.options = {
      enableScripts: false,
      enableCommandUris: FINDING_COMMANDS,
      localResourceRoots: [],
    };
    view.onDidDispose(() => {
      this.view = undefined;
    });
    await this.draw();
  }

  /** Shows the one finding that is selected; with none or several, what was shown stays. */
  show(selected: readonly FindingItem[]): void {
    const [finding] = selected;
    if (finding === undefined || selected.length > 1) {
      return;
    }
    this.shown = finding;
    void commands.executeCommand('setContext', 'jarvisLs.findingSelected', true);
    void this.draw();
  }

  /** Draws again when what is known of the finding has changed. */
  follow(findings: readonly FindingItem[]): void {
    const { uri, fingerprint } = this.shown ?? {};
    const now = findings.find((it) => it.fingerprint === fingerprint && it.uri === uri);
    if (this.shown !== undefined && JSON.stringify(now) !== JSON.stringify(this.shown)) {
      this.shown = now;
      void commands.executeCommand('setContext', 'jarvisLs.findingSelected', now !== undefined);
      void this.draw();
    }
  }

  dispose(): void {
    this.registration.dispose();
  }

  private async draw(): Promise<void> {
    const finding = this.shown;
    if (this.view === undefined || finding === undefined) {
      return;
    }
    const body = await this.read(finding);
    if (finding === this.shown && this.view !== undefined) {
      this.view.webview.html = page(body);
    }
  }

  private async read({ uri, fingerprint }: FindingItem): Promise<string> {
    try {
      const { markdown } = await this.context.request(FINDING, { uri, fingerprint });
      return await commands.executeCommand<string>('markdown.api.render', markdown);
    } catch (error) {
      this.context.log.warn(`Details of a finding: ${reason(error)}`);
      return `<p role="alert">${escaped(reason(error))}</p>`;
    }
  }
}

/** The whole document: nothing but our own style may load in it. */
function page(body: string): string {
  const nonce = randomBytes(16).toString('base64');
  const title = escaped(l10n.t('Finding Details'));
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${escaped(env.language)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <title>${title}</title>
  <style nonce="${nonce}">${STYLE}</style>
</head>
<body><main><h1>${title}</h1>${body}</main></body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
