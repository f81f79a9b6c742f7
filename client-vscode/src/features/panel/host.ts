/**
 * What the panel's page can ask of the editor itself: show a file or a diff, choose files, copy,
 * save, open a link, keep a key. Whatever it names is checked here, as if it came from anywhere.
 */

import { basename } from 'node:path';
import { env, l10n, Position, Range, Uri, ViewColumn, window, workspace } from 'vscode';
import type {
  ApplyCodeAsk,
  Ask,
  AskAnswers,
  Attachment,
  HostAsk,
  HostTell,
  OpenFileAsk,
  SettingsShown,
} from '../../panel-protocol';
import { applyCode } from './apply-code';
import { fileOf, linkedFile, ofEditor, ofFile } from './attachments';
import type { Changes } from './diff';
import type { Keys } from './keys';

export interface HostParts {
  changes: Changes;
  keys: Keys;
  tell(message: HostTell): void;
  settings(): Promise<SettingsShown>;
  setUpModel(provider?: string): Promise<void>;
  markdown(session: string): Promise<AskAnswers['export']>;
  ask<A extends Ask>(ask: A): Promise<AskAnswers[A['kind']]>;
}

const HOST_KINDS: ReadonlySet<string> = new Set<HostAsk['kind']>([
  'open_file',
  'show_diff',
  'choose_hunks',
  'copy',
  'insert_code',
  'apply_code',
  'pick_files',
  'drop',
  'editor_context',
  'set_key',
  'set_up_model',
  'save_export',
  'open_settings',
  'open_link',
  'confirm',
]);

/** Whether an ask is for the editor and not for the server. */
export function isForHost(ask: { kind: string }): ask is HostAsk {
  return HOST_KINDS.has(ask.kind);
}

/**
 * Does what the page asks.
 *
 * @throws with a sentence for the user.
 */
export async function answer(ask: HostAsk, parts: HostParts): Promise<Record<string, unknown>> {
  switch (ask.kind) {
    case 'open_file':
      await openFile(ask);
      break;
    case 'show_diff':
      await parts.changes.show(ask);
      break;
    case 'choose_hunks':
      parts.changes.choose(ask);
      break;
    case 'copy':
      await env.clipboard.writeText(ask.text);
      break;
    case 'insert_code':
      await insertCode(ask.text);
      break;
    case 'apply_code':
      return await applied(ask, parts);
    case 'pick_files':
      await pickFiles(parts);
      break;
    case 'drop':
      insert(
        parts,
        ask.uris.map((uri) => ofFile(Uri.parse(uri))),
      );
      break;
    case 'editor_context':
      insertFromEditor(parts, ofEditor(ask.what));
      break;
    case 'set_key':
      await parts.keys.ask(ask.variable, ask.provider);
      break;
    case 'set_up_model':
      await parts.setUpModel(ask.provider);
      break;
    case 'save_export':
      await saveExport(parts, ask.session);
      break;
    case 'open_settings':
      await openSettings(parts);
      break;
    case 'open_link':
      await openLink(ask.url);
      break;
    case 'confirm':
      return { yes: await confirm(ask.text, ask.action) };
  }
  return {};
}

/** Puts files into the input line; says so when one lies outside the workspace. */
export function insert(parts: HostParts, found: ReadonlyArray<Attachment | undefined>): void {
  const attachments = found.filter((one) => one !== undefined);
  if (attachments.length < found.length) {
    void window.showWarningMessage(l10n.t('Only files of the workspace can be attached.'));
  }
  if (attachments.length > 0) {
    parts.tell({ kind: 'insert', attachments, text: '' });
  }
}

async function applied(ask: ApplyCodeAsk, parts: HostParts): Promise<Record<string, unknown>> {
  return { said: await applyCode(ask, parts, insertCode) };
}

async function insertCode(text: string): Promise<void> {
  const editor = window.activeTextEditor;
  const done = await editor?.edit((edit) => {
    for (const selection of editor.selections) {
      edit.replace(selection, text);
    }
  });
  if (editor === undefined || done !== true) {
    throw new Error(l10n.t('Place the cursor in an editor that can be changed, then try again.'));
  }
  await window.showTextDocument(editor.document, editor.viewColumn);
}

function insertFromEditor(parts: HostParts, attachment: Attachment | undefined): void {
  if (attachment === undefined) {
    void window.showInformationMessage(l10n.t('The active editor has nothing to attach.'));
    return;
  }
  parts.tell({ kind: 'insert', attachments: [attachment], text: '' });
}

async function openFile({ path, root, line = 0 }: OpenFileAsk): Promise<void> {
  const file = root === undefined ? await linkedFile(path) : fileOf(path, root);
  if (file === undefined) {
    throw new Error(l10n.t('{0} is not in the workspace.', path));
  }
  const document = await workspace.openTextDocument(file);
  const at = new Position(Math.min(Math.max(line - 1, 0), document.lineCount - 1), 0);
  await window.showTextDocument(document, {
    preview: true,
    viewColumn: ViewColumn.Active,
    ...(line > 0 ? { selection: new Range(at, at) } : {}),
  });
}

async function pickFiles(parts: HostParts): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const chosen = await window.showOpenDialog({
    canSelectMany: true,
    openLabel: l10n.t('Attach'),
    ...(folder === undefined ? {} : { defaultUri: folder }),
  });
  insert(parts, (chosen ?? []).map(ofFile));
}

async function saveExport(parts: HostParts, session: string): Promise<void> {
  const { name, markdown } = await parts.markdown(session);
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const target = await window.showSaveDialog({
    filters: { Markdown: ['md'] },
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
  });
  if (target !== undefined) {
    await workspace.fs.writeFile(target, Buffer.from(markdown, 'utf8'));
    await window.showTextDocument(target, { preview: true });
  }
}

async function openSettings(parts: HostParts): Promise<void> {
  const { file, template, schema } = await parts.settings();
  const uri = Uri.file(file);
  const exists = await workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
  if (!exists) {
    await workspace.fs.createDirectory(Uri.joinPath(uri, '..'));
    await workspace.fs.writeFile(uri, Buffer.from(template, 'utf8'));
  }
  // TOML plugins complete and check by it; a newer version may know more.
  const beside = Uri.joinPath(uri, '..', basename(schema));
  await workspace.fs.copy(Uri.file(schema), beside, { overwrite: true });
  await window.showTextDocument(uri);
}

async function openLink(url: string): Promise<void> {
  const uri = Uri.parse(url, true);
  if (uri.scheme !== 'https' && uri.scheme !== 'http') {
    throw new Error(l10n.t('Only web addresses can be opened.'));
  }
  await env.openExternal(uri);
}

async function confirm(text: string, action: string): Promise<boolean> {
  return (await window.showWarningMessage(text, { modal: true }, action)) === action;
}
