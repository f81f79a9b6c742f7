/**
 * Review of a change: what has changed since the last commit is read by rules, impact, deletion guard
 * and security analysis, and by agents when the user says so. Issues are in Problems; the light bulb
 * hands one to the chat, accepts it, so that it is known to be right, or dismisses it with a reason, so
 * that it does not come back.
 */

import {
  CodeAction,
  CodeActionKind,
  commands,
  type Diagnostic,
  l10n,
  languages,
  type QuickPickItem,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import {
  REVIEW,
  REVIEW_ACCEPT,
  REVIEW_DISMISS,
  type ReviewIssue,
  type ReviewState,
} from '../protocol';
import { withWork } from '../work';

const SOURCE = 'jarvis review';

interface Choice extends QuickPickItem {
  state: ReviewState;
  agents: boolean;
}

export function activate(context: JarvisContext): void {
  let issues: ReviewIssue[] = [];
  const review = async () => {
    const choice = await window.showQuickPick(choices(), {
      title: l10n.t('Review Changes'),
      placeHolder: l10n.t('What is compared with the last commit'),
    });
    if (choice === undefined) {
      return;
    }
    const { state, agents } = choice;
    const ask = (workDoneToken: string) =>
      context.request(REVIEW, { ...here(), state, agents, workDoneToken });
    const result = await withWork(context, l10n.t('Reviewing the change'), ask);
    if (result.status === 'cancelled') {
      return;
    }
    issues = result.issues;
    if (result.status === 'no_model') {
      const setUp = l10n.t('Set Up a Model');
      if ((await window.showWarningMessage(result.summary, setUp)) === setUp) {
        await commands.executeCommand('jarvisLs.setUpModel');
      }
      return;
    }
    const show = l10n.t('Show Problems');
    const buttons = issues.length > 0 ? [show] : [];
    const tell =
      result.status === 'reviewed' ? window.showInformationMessage : window.showWarningMessage;
    if ((await tell(result.summary, ...buttons)) === show) {
      await commands.executeCommand('workbench.actions.view.problems');
    }
  };
  const dismiss = async (issue: ReviewIssue) => {
    const reason = await window.showInputBox({
      title: l10n.t('Dismiss {0}', issue.rule),
      prompt: l10n.t('Why it is none. Later reviews leave it out until its line changes.'),
      validateInput: (text) => (text.trim() === '' ? l10n.t('Give a reason.') : undefined),
    });
    if (reason !== undefined) {
      await context.request(REVIEW_DISMISS, { uri: issue.uri, key: issue.key, reason });
      issues = issues.filter(({ key, uri }) => key !== issue.key || uri !== issue.uri);
    }
  };
  const accept = async (issue: ReviewIssue) => {
    await context.request(REVIEW_ACCEPT, { uri: issue.uri, key: issue.key });
    issue.accepted = true;
  };
  const discuss = (issue: ReviewIssue) => {
    const place = workspace.asRelativePath(Uri.parse(issue.uri));
    const text = l10n.t(
      'Fix what a review says of {0}:{1}: {2} {3}',
      place,
      issue.line,
      issue.message,
      issue.suggestion,
    );
    return commands.executeCommand('jarvisLs.askInChat', text);
  };
  context.command('jarvisLs.reviewChanges', review);
  context.command('jarvisLs.acceptIssue', accept);
  context.command('jarvisLs.dismissIssue', dismiss);
  context.command('jarvisLs.discussIssue', discuss);
  context.subscriptions.push(
    languages.registerCodeActionsProvider(
      { scheme: 'file' },
      {
        provideCodeActions: (document, _range, { diagnostics }) =>
          diagnostics
            .filter(({ source }) => source === SOURCE)
            .flatMap((diagnostic) => actionsOf(diagnostic, issueOf(issues, document, diagnostic))),
      },
      { providedCodeActionKinds: [CodeActionKind.QuickFix] },
    ),
  );
}

function choices(): Choice[] {
  const disk = l10n.t('Files on disk');
  const staged = l10n.t('Staged changes');
  const alone = l10n.t('without a model');
  const together = l10n.t('sends the diff to your model: agents read it as well');
  return [
    { label: disk, description: alone, state: 'working', agents: false },
    { label: staged, description: alone, state: 'staged', agents: false },
    { label: disk, description: together, state: 'working', agents: true },
    { label: staged, description: together, state: 'staged', agents: true },
  ];
}

/** The file that is open tells which repository is meant. */
function here(): { uri?: string } {
  const uri = window.activeTextEditor?.document.uri;
  return uri?.scheme === 'file' ? { uri: uri.toString() } : {};
}

function issueOf(
  issues: readonly ReviewIssue[],
  document: TextDocument,
  { message }: Diagnostic,
): ReviewIssue | undefined {
  const path = document.uri.fsPath;
  return issues.find(
    (issue) =>
      Uri.parse(issue.uri).fsPath === path &&
      message.startsWith(`${issue.message} ${issue.suggestion}`),
  );
}

function actionsOf(diagnostic: Diagnostic, issue: ReviewIssue | undefined): CodeAction[] {
  if (issue === undefined) {
    return [];
  }
  const make = (title: string, command: string): CodeAction => {
    const action = new CodeAction(title, CodeActionKind.QuickFix);
    action.command = { title, command, arguments: [issue] };
    action.diagnostics = [diagnostic];
    return action;
  };
  return [
    make(l10n.t('Fix {0} with Jarvis', issue.rule), 'jarvisLs.discussIssue'),
    ...(issue.accepted
      ? []
      : [make(l10n.t('Accept {0} as right', issue.rule), 'jarvisLs.acceptIssue')]),
    make(l10n.t('Dismiss {0} with a reason…', issue.rule), 'jarvisLs.dismissIssue'),
  ];
}
