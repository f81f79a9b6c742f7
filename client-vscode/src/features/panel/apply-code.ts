/**
 * A block of code of an answer goes into the file it is meant for: the server finds the file and the
 * place, the user sees the diff and accepts or refuses it. Where that is not certain, the user is
 * asked, and nothing is placed by a guess.
 */

import { l10n, window, workspace } from 'vscode';
import type { ApplyCodeAsk, Ask, AskAnswers, CodeFile, PlaceCodeAsk } from '../../panel-protocol';
import { ofEditor } from './attachments';
import type { Changes } from './diff';

interface Parts {
  changes: Changes;
  ask<A extends Ask>(ask: A): Promise<AskAnswers[A['kind']]>;
}

/**
 * Shows the diff; what it replaces, in words, or nothing when none was opened.
 *
 * @throws with a sentence for the user.
 */
export async function applyCode(
  { session, text, info, before }: ApplyCodeAsk,
  parts: Parts,
  insert: (text: string) => Promise<void>,
): Promise<string> {
  const active = ofEditor('file');
  const wish: PlaceCodeAsk = {
    ...{ kind: 'place_code', session, code: text, info: info ?? '', before: before ?? '' },
    ...(active === undefined ? {} : { active: active.path, active_root: active.root ?? 0 }),
  };
  let placed = await parts.ask(wish);
  if (placed.choices.length > 0) {
    const file = await choose(placed.choices);
    if (file === undefined) {
      return '';
    }
    placed = await parts.ask({ ...wish, ...file });
  }
  if (placed.entry === null || placed.entry === undefined) {
    const whole = l10n.t('Replace Whole File');
    const atCursor = l10n.t('Insert at Cursor');
    const ways = placed.path === '' ? [atCursor] : [atCursor, whole];
    const way = await window.showWarningMessage(placed.said, ...ways);
    if (way === atCursor) {
      await insert(text);
    }
    if (way !== whole) {
      return '';
    }
    placed = await parts.ask({ ...wish, path: placed.path, root: placed.root, whole: true });
  }
  if (placed.entry === null || placed.entry === undefined) {
    return '';
  }
  await parts.changes.propose(placed.session, placed.entry);
  return placed.said;
}

async function choose(files: readonly CodeFile[]): Promise<CodeFile | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  const items = files.map((file) => ({
    label: file.path,
    description: folders.length > 1 ? (folders[file.root]?.name ?? '') : '',
    file,
  }));
  const placeHolder = l10n.t('The answer names several files. Apply the code to which one?');
  return (await window.showQuickPick(items, { placeHolder }))?.file;
}
