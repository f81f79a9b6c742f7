/**
 * What agents say of a finding. *Verify* lets them derive the path to it, attack it and run it, with
 * a notification that can be cancelled; what they conclude is kept and shown with the finding. *Explain*
 * puts a question about it into the chat, which the user sends.
 */

import { commands, l10n, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { type FindingItem, type FindingRef, VERIFY } from '../protocol';
import { VirtualDocuments } from '../virtual-documents';
import { withWork } from '../work';
import { type Clicked, findingsMeant, saveFile } from './finding-commands';

const SCHEME = 'jarvis-verification';

/** A finding as the light bulb and the hover name it. */
interface Named extends FindingRef {
  id?: string;
  rule?: string;
  line?: number;
}

export function activate(context: JarvisContext): void {
  const pages = new VirtualDocuments(SCHEME);
  context.subscriptions.push(pages);
  context.command('jarvisLs.verify', async (...clicked: Clicked<Named>) => {
    const finding = findingMeant(context, clicked);
    if (finding !== undefined) {
      await verify(context, pages, finding);
    }
  });
  context.command('jarvisLs.explainFinding', async (...clicked: Clicked<Named>) => {
    const finding = findingMeant(context, clicked);
    if (finding !== undefined) {
      const place = workspace.asRelativePath(Uri.parse(finding.uri));
      const { rule = '', id = finding.fingerprint, line = 1 } = finding;
      const text = l10n.t(
        'Explain finding {0} ({1}, {2}:{3}): what leads to it, whether it is real, and how to repair it.',
        id,
        rule,
        place,
        line,
      );
      await commands.executeCommand('jarvisLs.askInChat', text);
    }
  });
}

/** The finding meant; tells the user what to do when there is none. */
function findingMeant(context: JarvisContext, clicked: Clicked<Named>): Named | undefined {
  const [found] = findingsMeant(context, clicked);
  if (found === undefined) {
    void window.showInformationMessage(
      l10n.t('Place the cursor on a finding, or select findings in the Findings view.'),
    );
    return undefined;
  }
  return 'range' in found ? named(found) : found;
}

function named({ uri, fingerprint, id, rule, range }: FindingItem): Named {
  return { uri, fingerprint, id, rule, line: range.start.line + 1 };
}

async function verify(
  context: JarvisContext,
  pages: VirtualDocuments,
  finding: Named,
): Promise<void> {
  const { uri, fingerprint } = finding;
  await saveFile(uri, l10n.t('Save the file first: agents read what is on disk.'));
  const ask = (workDoneToken: string) =>
    context.request(VERIFY, { uri, finding: fingerprint, workDoneToken });
  const result = await withWork(context, l10n.t('Verifying with agents'), ask);
  if (result.status === 'no_model') {
    const setUp = l10n.t('Set Up a Model');
    if ((await window.showWarningMessage(result.summary, setUp)) === setUp) {
      await commands.executeCommand('jarvisLs.setUpModel');
    }
  } else if (result.status === 'unfinished') {
    void window.showWarningMessage(result.summary);
  } else if (result.status === 'verified') {
    const show = l10n.t('Show What Agents Said');
    if ((await window.showInformationMessage(result.summary, show)) === show) {
      await pages.showPage(result.markdown);
    }
  }
}
