/**
 * What the analysis does not know of C and C++ code: headers that are not found, macros, types and
 * functions. The user sees a page with what costs the most, where, and what to do. After a scan in
 * which headers were missing it is offered once in a workspace.
 */

import { commands, l10n, window } from 'vscode';
import type { JarvisContext } from '../context';
import { GAPS, GAPS_FOUND } from '../protocol';
import { VirtualDocuments } from '../virtual-documents';
import { withWork } from '../work';

const SCHEME = 'jarvis-gaps';
const OFFERED = 'gapsOffered';

export function activate(context: JarvisContext): void {
  const pages = new VirtualDocuments(SCHEME);
  context.subscriptions.push(pages);
  context.command('jarvisLs.explainGaps', async () => {
    const ask = (workDoneToken: string) => context.request(GAPS, { workDoneToken });
    const result = await withWork(context, l10n.t('Summing up what is not known'), ask);
    if (result.cancelled !== true) {
      const page = pages.set(`${l10n.t('Not known')}.md`, result.markdown);
      await commands.executeCommand('markdown.showPreview', page);
    }
  });
  context.on(GAPS_FOUND, ({ headers, files }) => {
    void offer(context, headers, files);
  });
}

async function offer(context: JarvisContext, headers: number, files: number): Promise<void> {
  const memory = context.extension.workspaceState;
  if (memory.get(OFFERED) === true) {
    return;
  }
  await memory.update(OFFERED, true);
  const show = l10n.t('Show Summary');
  const sentence = l10n.t(
    '{0} headers are not found; flaws in the {1} places that include them may be missed.',
    headers,
    files,
  );
  if ((await window.showInformationMessage(sentence, show)) === show) {
    await commands.executeCommand('jarvisLs.explainGaps');
  }
}
