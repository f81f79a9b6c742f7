/**
 * The page of a rule: what it finds, why that is bad, an example, what is better. The user reads it
 * beside the code as a rendered page, from the findings view, the light bulb, or by choosing one of
 * all rules. It comes from the server, so it works offline and is never out of date.
 */

import {
  commands,
  EventEmitter,
  l10n,
  languages,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import { EXPLAIN_RULE, RULES } from '../protocol';
import { languageNames, severityIcon } from './findings/labels';
import type { Node } from './findings/tree';

const SCHEME = 'jarvis-rule';

export function activate(context: JarvisContext): void {
  const pages = new RulePages(context);
  context.subscriptions.push(
    pages,
    workspace.registerTextDocumentContentProvider(SCHEME, pages),
    context.onLife((life) => life === 'running' && pages.refresh()),
  );
  context.command('jarvisLs.explainRule', async (asked?: string | Node) => {
    const rule = ruleOf(asked) ?? (await ruleAtCursor()) ?? (await askRule(context));
    if (rule !== undefined) {
      await commands.executeCommand('markdown.showPreviewToSide', pageUri(rule));
    }
  });
}

function pageUri(rule: string): Uri {
  return Uri.from({ scheme: SCHEME, path: `/${rule}.md` });
}

class RulePages implements TextDocumentContentProvider {
  private readonly changed = new EventEmitter<Uri>();
  private readonly shown = new Map<string, Uri>();

  readonly onDidChange = this.changed.event;

  constructor(private readonly context: JarvisContext) {}

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    this.shown.set(uri.toString(), uri);
    const rule = uri.path.slice(1, -'.md'.length);
    const page = await this.context.request(EXPLAIN_RULE, { rule });
    return page.markdown;
  }

  /** A page that was asked for while no server ran is read again. */
  refresh(): void {
    for (const uri of this.shown.values()) {
      this.changed.fire(uri);
    }
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function ruleOf(asked: string | Node | undefined): string | undefined {
  if (typeof asked === 'string') {
    return asked;
  }
  if (asked?.kind === 'finding') {
    return asked.finding.rule;
  }
  if (asked?.kind === 'step') {
    return asked.parent.finding.rule;
  }
  return asked?.kind === 'group' ? asked.group.findings[0]?.rule : undefined;
}

/** The rule of the finding under the cursor, when there is exactly one. */
async function ruleAtCursor(): Promise<string | undefined> {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const rules = languages
    .getDiagnostics(editor.document.uri)
    .filter((it) => it.source === 'jarvis' && it.range.contains(editor.selection.active))
    .map((it) => (typeof it.code === 'object' ? it.code.value : it.code));
  const [only, ...others] = new Set(rules);
  return others.length === 0 && only !== undefined ? String(only) : undefined;
}

async function askRule(context: JarvisContext): Promise<string | undefined> {
  const rules = await context.request(RULES, {});
  const items = rules.map((rule) => ({
    label: rule.id,
    description: languageNames(rule.languages),
    detail: rule.title,
    iconPath: severityIcon(rule.severity),
  }));
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Explain a rule'),
    matchOnDetail: true,
  });
  return chosen?.label;
}
