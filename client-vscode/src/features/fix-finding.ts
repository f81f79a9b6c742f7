/**
 * Applying a finding's safe rewrite from the findings view. The user gets the same change as by the
 * light bulb in the editor, with the file shown and the change ready to be undone.
 */

import {
  type CodeAction,
  CodeActionKind,
  commands,
  l10n,
  Range,
  TextEditorRevealType,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import type { FindingItem } from '../protocol';
import type { Node } from './findings/tree';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.fix', async (clicked?: Node) => {
    const [finding] = context.chooseFindings(clicked).filter(({ fixable }) => fixable);
    if (finding === undefined) {
      void window.showInformationMessage(l10n.t('Select a finding that has a fix first.'));
      return;
    }
    await fix(finding);
  });
}

async function fix(finding: FindingItem): Promise<void> {
  const uri = Uri.parse(finding.uri);
  const { start, end } = finding.range;
  const range = new Range(start.line, start.character, end.line, end.character);
  const editor = await window.showTextDocument(uri, { selection: range });
  editor.revealRange(range, TextEditorRevealType.InCenterIfOutsideViewport);
  const actions = await commands.executeCommand<CodeAction[]>(
    'vscode.executeCodeActionProvider',
    uri,
    range,
    CodeActionKind.QuickFix.value,
    1,
  );
  const rewrite = actions.find(
    (action) => action.isPreferred && action.edit && about(action, finding),
  );
  if (rewrite?.edit === undefined) {
    throw new Error(l10n.t('The code has changed: there is no safe fix here any more.'));
  }
  await workspace.applyEdit(rewrite.edit);
}

/** True when the action belongs to this finding and not to a neighbour on the same range. */
function about(action: CodeAction, finding: FindingItem): boolean {
  const codes = action.diagnostics?.map(({ code }) =>
    typeof code === 'object' ? code.value : code,
  );
  return codes === undefined || codes.length === 0 || codes.includes(finding.rule);
}
