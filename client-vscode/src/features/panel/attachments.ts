/**
 * What of the workspace can go along with a message: a file, the selected lines, the problems the
 * editor shows for a file. Nothing outside the workspace is attached, but for selected text, which
 * the user sees.
 */

import {
  type Diagnostic,
  DiagnosticSeverity,
  languages,
  type TextEditor,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Attachment, AttachmentKind } from '../../panel-protocol';

const SEVERITIES: Record<DiagnosticSeverity, string> = {
  [DiagnosticSeverity.Error]: 'error',
  [DiagnosticSeverity.Warning]: 'warning',
  [DiagnosticSeverity.Information]: 'information',
  [DiagnosticSeverity.Hint]: 'hint',
};
/** More than a model can make use of at once. */
const MAX_PROBLEMS = 200;

/** The file; undefined when it lies outside the workspace. */
export function ofFile(uri: Uri): Attachment | undefined {
  const place = placeOf(uri);
  return place === undefined ? undefined : { kind: 'file', ...place };
}

/** What is selected in the editor in front, else its problems or file; undefined when none is. */
export function ofEditor(what: AttachmentKind): Attachment | undefined {
  const editor = window.activeTextEditor ?? window.visibleTextEditors[0];
  if (editor === undefined) {
    return undefined;
  }
  const { uri } = editor.document;
  if (what === 'selection') {
    return ofSelection(editor);
  }
  return what === 'diagnostics' ? ofProblems(uri) : ofFile(uri);
}

/** The selected lines; the whole line where nothing is selected. */
export function ofSelection(editor: TextEditor): Attachment {
  const { document, selection } = editor;
  const wanted = selection.isEmpty ? document.lineAt(selection.start.line).range : selection;
  const place = placeOf(document.uri) ?? { path: document.fileName, root: 0 };
  return {
    kind: 'selection',
    ...place,
    startLine: wanted.start.line + 1,
    endLine: wanted.end.line + 1,
    text: document.getText(wanted),
  };
}

/** What the Problems view says of a file; undefined when it says nothing. */
export function ofProblems(uri: Uri): Attachment | undefined {
  const place = placeOf(uri);
  const problems = languages.getDiagnostics(uri);
  if (place === undefined || problems.length === 0) {
    return undefined;
  }
  const text = problems.slice(0, MAX_PROBLEMS).map(lineOf).join('\n');
  return { kind: 'diagnostics', ...place, text };
}

/**
 * The file that the panel means: relative to a folder of the workspace, or absolute and inside one;
 * undefined when it is nowhere in the workspace.
 */
export function fileOf(path: string, root: number): Uri | undefined {
  const parts = path.split(/[\\/]/);
  if (parts.includes('..')) {
    return undefined;
  }
  if (/^([a-z]:|[\\/])/i.test(path)) {
    const file = Uri.file(path);
    return workspace.getWorkspaceFolder(file) === undefined ? undefined : file;
  }
  const folder = workspace.workspaceFolders?.[root];
  return folder === undefined ? undefined : Uri.joinPath(folder.uri, ...path.split('/'));
}

/**
 * The file that a link in an answer means, as the server names files: what begins with the name of
 * another folder lies there, unless the first folder has something of that name.
 */
export async function linkedFile(path: string): Promise<Uri | undefined> {
  const [head = '', ...rest] = path.split('/');
  const folders = workspace.workspaceFolders ?? [];
  const called = folders.filter(({ uri }) => uri.path.split('/').at(-1) === head);
  const [first, folder] = [folders[0], called[0]];
  if (first === undefined || folder === undefined || folder === first || called.length > 1) {
    return fileOf(path, 0);
  }
  const isOfFirst = await workspace.fs.stat(Uri.joinPath(first.uri, head)).then(
    () => true,
    () => false,
  );
  return isOfFirst ? fileOf(path, 0) : fileOf(rest.join('/'), folder.index);
}

function lineOf(problem: Diagnostic): string {
  const { line, character } = problem.range.start;
  const code = typeof problem.code === 'object' ? problem.code.value : problem.code;
  const name = [problem.source, code].filter((part) => part !== undefined && part !== '').join(' ');
  const place = `${line + 1}:${character + 1}`;
  return `${place} ${SEVERITIES[problem.severity]}: ${problem.message} [${name}]`;
}

function placeOf(uri: Uri): { path: string; root: number } | undefined {
  const folder = uri.scheme === 'file' ? workspace.getWorkspaceFolder(uri) : undefined;
  if (folder === undefined) {
    return undefined;
  }
  const path = uri.path.slice(folder.uri.path.replace(/\/$/, '').length + 1);
  return path === '' ? undefined : { path, root: folder.index };
}
