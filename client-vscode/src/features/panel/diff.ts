/**
 * What an agent changes of a file, as the editor's own diff: before and after are texts of the
 * server, so that the diff stays what it was when the file changes later. One that is open follows
 * what the user decides: of a change that was taken in part it shows that part.
 */

import {
  commands,
  type Disposable,
  EventEmitter,
  l10n,
  type TextDocumentContentProvider,
  Uri,
  workspace,
} from 'vscode';
import type { FileText, ShowDiffAsk, Side, SideAsk } from '../../panel-protocol';

export const DIFF_SCHEME = 'jarvis-change';

type Wanted = Required<Pick<SideAsk, 'session' | 'entry' | 'path' | 'root'>>;

export class Changes implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly read: (ask: SideAsk) => Promise<FileText>) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** A tool call was decided on: what is shown of it is read again. */
  decided(session: string, entry: string): void {
    for (const { uri } of workspace.textDocuments) {
      if (uri.scheme === DIFF_SCHEME) {
        const wanted = JSON.parse(uri.query) as Wanted;
        if (wanted.session === session && wanted.entry === entry) {
          this.changed.fire(uri);
        }
      }
    }
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const wanted = JSON.parse(uri.query) as Wanted & { side: Side };
    return (await this.read({ kind: 'side', ...wanted })).text;
  }

  /** Opens the diff of one file of a tool call. */
  async show({ session, entry, path, root = 0 }: ShowDiffAsk): Promise<void> {
    const wanted = { session, entry, path, root };
    const name = path.slice(path.lastIndexOf('/') + 1);
    const title = l10n.t('{0} (changed by Jarvis)', name);
    await commands.executeCommand('vscode.diff', at(wanted, 'before'), at(wanted, 'after'), title, {
      preview: true,
    });
  }
}

function at(wanted: Wanted, side: Side): Uri {
  return Uri.from({
    scheme: DIFF_SCHEME,
    path: `/${wanted.path}`,
    query: JSON.stringify({ ...wanted, side }),
  });
}
