/**
 * Writing everything found into a report. The user chooses the form (a page to read, SARIF for CI,
 * JSON for programs, Markdown for a ticket) and the file, and can open it right away. It is written
 * when the scan has ended and all values have been followed; until then it can be cancelled.
 */

import path from 'node:path';
import { commands, env, l10n, type QuickPickItem, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { EXPORT, type ExportFormat } from '../protocol';
import { withWork } from '../work';
import { countOf } from './findings/labels';

/** Mostly everything is analysed already, and the report is there at once. */
const PATIENCE_MS = 500;

interface Form extends QuickPickItem {
  format: ExportFormat;
  ending: string;
}

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.exportReport', async () => {
    const folder = workspace.workspaceFolders?.[0];
    if (folder === undefined) {
      throw new Error(l10n.t('Open a folder first. A report covers a workspace.'));
    }
    const form = await window.showQuickPick(forms(), { title: l10n.t('Report format') });
    if (form === undefined) {
      return;
    }
    const file = await window.showSaveDialog({
      title: l10n.t('Export report'),
      defaultUri: Uri.joinPath(folder.uri, `jarvis-report.${form.ending}`),
      filters: { [form.label]: [form.ending] },
    });
    if (file !== undefined) {
      await write(context, form.format, file);
    }
  });
}

function forms(): Form[] {
  return [
    {
      label: 'SARIF',
      description: 'SARIF 2.1.0',
      detail: l10n.t('For CI, GitHub code scanning and SARIF viewers'),
      format: 'sarif',
      ending: 'sarif',
    },
    {
      label: 'HTML',
      detail: l10n.t('One page to read and share, with a summary chart'),
      format: 'html',
      ending: 'html',
    },
    {
      label: 'Markdown',
      detail: l10n.t('For a ticket or a merge request'),
      format: 'markdown',
      ending: 'md',
    },
    {
      label: 'JSON',
      detail: l10n.t('Summary and list of findings'),
      format: 'json',
      ending: 'json',
    },
    {
      label: 'JSON Lines',
      detail: l10n.t('One finding per line, for streaming tools'),
      format: 'jsonl',
      ending: 'jsonl',
    },
  ];
}

async function write(context: JarvisContext, format: ExportFormat, file: Uri): Promise<void> {
  const ask = (workDoneToken: string) =>
    context.request(EXPORT, { format, path: file.fsPath, workDoneToken });
  const title = l10n.t('Writing the report');
  const result = await withWork(context, title, ask, undefined, PATIENCE_MS);
  if (result.cancelled) {
    return;
  }
  const open = l10n.t('Open');
  const name = path.basename(result.path);
  const sentence = l10n.t('{0} written to {1}.', countOf(result.findings), name);
  const answer = await window.showInformationMessage(`${sentence} ${result.partial}`.trim(), open);
  if (answer !== open) {
    return;
  }
  const written = Uri.file(result.path);
  if (format === 'html') {
    await env.openExternal(written);
  } else if (format === 'markdown') {
    await commands.executeCommand('markdown.showPreview', written);
  } else {
    await window.showTextDocument(written);
  }
}
