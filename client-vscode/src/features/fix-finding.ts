/**
 * Applying a finding's rewrite from the findings view. The user gets the same change as by the light
 * bulb in the editor, with the file shown and the change ready to be undone. What changes behaviour
 * opens as a preview, where it may be refused.
 */

import { l10n, Range, TextEditorRevealType, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { FIX, type FindingItem } from '../protocol';
import type { Node } from './findings/tree';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.fix', async (...clicked: [Node?, Node[]?]) => {
    const [finding] = context.chooseFindings(clicked).filter(({ fixable }) => fixable);
    if (finding === undefined) {
      void window.showInformationMessage(l10n.t('Select a finding with a fix.'));
      return;
    }
    await fix(context, finding);
  });
}

async function fix(context: JarvisContext, finding: FindingItem): Promise<void> {
  const uri = Uri.parse(finding.uri);
  const { start, end } = finding.range;
  const range = new Range(start.line, start.character, end.line, end.character);
  const editor = await window.showTextDocument(uri, { selection: range });
  editor.revealRange(range, TextEditorRevealType.InCenterIfOutsideViewport);
  const { fingerprint } = finding;
  const { edit } = await context.request(FIX, { uri: finding.uri, fingerprint });
  const changes = await context.runningClient?.protocol2CodeConverter.asWorkspaceEdit(edit);
  if (changes === undefined) {
    throw new Error(l10n.t('The code has changed; the fix was not applied.'));
  }
  const applied = await workspace.applyEdit(changes);
  if (!applied && edit.changeAnnotations === undefined) {
    throw new Error(l10n.t('The code has changed; the fix was not applied.'));
  }
}
