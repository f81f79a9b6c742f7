/** Documents that are shown and belong to no file: pages in Markdown, and files before they are written. */

import {
  commands,
  type Disposable,
  EventEmitter,
  TabInputText,
  TabInputTextDiff,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from 'vscode';

export class VirtualDocuments implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  private readonly texts = new Map<string, string>();
  private readonly registration: Disposable;
  private pages = 0;

  readonly onDidChange = this.changed.event;

  /** `scheme` is that of their addresses, and nobody else's. */
  constructor(private readonly scheme: string) {
    this.registration = workspace.registerTextDocumentContentProvider(scheme, this);
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.path) ?? '';
  }

  /** Sets the text of a path; returns its address. */
  set(path: string, text: string): Uri {
    const uri = Uri.from({ scheme: this.scheme, path: `/${path}` });
    this.texts.set(uri.path, text);
    this.changed.fire(uri);
    return uri;
  }

  /** Shows a page of its own beside the editor. */
  async showPage(markdown: string): Promise<void> {
    this.pages += 1;
    const page = this.set(`${this.pages}.md`, markdown);
    await commands.executeCommand('markdown.showPreviewToSide', page);
  }

  /** Shows a file as it is, and beside it as it would be. */
  async showDiff(file: Uri, path: string, text: string, title: string): Promise<void> {
    const proposed = this.set(path, text);
    await commands.executeCommand('vscode.diff', file, proposed, title, { preview: false });
  }

  /** Forgets the texts, and closes the tabs that show them. */
  async close(): Promise<void> {
    const tabs = window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input }) => {
        const shown = input instanceof TabInputTextDiff ? input.modified : undefined;
        return (input instanceof TabInputText ? input.uri : shown)?.scheme === this.scheme;
      });
    await window.tabGroups.close(tabs);
    this.texts.clear();
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
