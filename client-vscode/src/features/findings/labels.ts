/**
 * How findings and their groups are written and drawn: words, icons, colours and the sentences a
 * screen reader speaks.
 */

import { l10n, MarkdownString, Range, ThemeColor, ThemeIcon, Uri, workspace } from 'vscode';
import type {
  AgentsVerdict,
  FindingItem,
  FindingStep,
  ProofVerdict,
  Severity,
} from '../../protocol';
import type { Group, Grouping, Shown } from './model';

const ICONS: Record<Severity, [icon: string, color: string]> = {
  high: ['error', 'problemsErrorIcon.foreground'],
  medium: ['warning', 'problemsWarningIcon.foreground'],
  low: ['info', 'problemsInfoIcon.foreground'],
};

/** Signs of the families of rules, below a heading that already says how grave they are. */
const CATEGORY_ICONS: Record<string, string> = {
  buffer_overflow: 'symbol-array',
  concurrency: 'git-merge',
  crypto: 'lock',
  error_handling: 'warning',
  input_validation: 'filter',
  insecure_permissions: 'unlock',
  integer_overflow: 'symbol-numeric',
  memory_mgmt: 'database',
  network_api: 'globe',
  path_traversal: 'folder-opened',
  race_condition: 'watch',
  resource_leak: 'trash',
  secrets: 'key',
  thread_safety: 'git-merge',
  type_safety: 'symbol-class',
  undefined_behaviour: 'question',
  unsafe_api: 'symbol-method',
  unsafe_usage: 'flame',
};

/** Signs of what running the code has shown; what is not decided keeps the sign of its rule. */
const EVIDENCE_ICONS: Partial<Record<ProofVerdict, string>> = {
  reproduced: 'bug',
  depends_on_caller: 'call-incoming',
  refuted: 'pass',
  survived: 'shield',
};

/** Signs of what agents concluded, where nothing was run. */
const AGENTS_ICONS: Partial<Record<AgentsVerdict, string>> = {
  reproduced: 'bug',
  unproven: 'verified',
};

/** The sign of a severity, in the colour the Problems panel gives it. */
export function severityIcon(severity: Severity): ThemeIcon {
  const [icon, color] = ICONS[severity];
  return new ThemeIcon(icon, new ThemeColor(color));
}

/**
 * The sign of a finding: what is known of it by running the code or by agents, else the family of
 * its rule where the heading tells the severity, else its severity. Settled ones are grey.
 */
export function findingIcon(finding: FindingItem, grouping: Grouping): ThemeIcon {
  const grey = new ThemeColor('disabledForeground');
  if (finding.suppressed) {
    return new ThemeIcon('eye-closed', grey);
  }
  if (finding.baselined) {
    return new ThemeIcon('archive', grey);
  }
  const verdict = finding.proof?.verdict;
  const [severity, color] = ICONS[finding.severity];
  const icon =
    (verdict && EVIDENCE_ICONS[verdict]) ??
    (finding.agents && AGENTS_ICONS[finding.agents.verdict]) ??
    (grouping === 'severity' ? CATEGORY_ICONS[finding.category] : undefined) ??
    severity;
  return new ThemeIcon(icon, verdict === 'refuted' ? grey : new ThemeColor(color));
}

/** What running the code has shown, as a filter names it. */
export function verdictName(shown: Shown): string {
  const names: Record<Shown, string> = {
    reproduced: l10n.t('Reproduced'),
    depends_on_caller: l10n.t('Depends on the caller'),
    refuted: l10n.t('Refuted'),
    survived: l10n.t('Survived the runs'),
    unproven: l10n.t('Unproven'),
    none: l10n.t('Not run'),
  };
  return names[shown];
}

export function severityName(severity: Severity): string {
  const names = { high: l10n.t('High'), medium: l10n.t('Medium'), low: l10n.t('Low') };
  return names[severity];
}

export function groupingName(grouping: Grouping): string {
  const names = {
    severity: l10n.t('Severity'),
    category: l10n.t('Category'),
    file: l10n.t('File'),
    rule: l10n.t('Rule'),
  };
  return names[grouping];
}

/** The heading of a group. Categories are identifiers such as `memory_mgmt`. */
export function groupName(group: Group): string {
  if (group.grouping === 'severity') {
    return severityName(group.key as Severity);
  }
  if (group.grouping === 'category') {
    return categoryName(group.key);
  }
  return group.grouping === 'file' ? fileName(group.key) : group.key;
}

/** A category in words; of one that a newer server has, its identifier made readable. */
export function categoryName(category: string): string {
  const names: Record<string, string> = {
    analysis: l10n.t('Analysis'),
    buffer_overflow: l10n.t('Buffer overflow'),
    concurrency: l10n.t('Concurrency'),
    crypto: l10n.t('Cryptography'),
    custom: l10n.t('Patterns of your own'),
    error_handling: l10n.t('Error handling'),
    input_validation: l10n.t('Input validation'),
    insecure_permissions: l10n.t('Insecure permissions'),
    integer_overflow: l10n.t('Integer overflow'),
    memory_mgmt: l10n.t('Memory management'),
    network_api: l10n.t('Network API'),
    path_traversal: l10n.t('Path traversal'),
    race_condition: l10n.t('Race condition'),
    resource_leak: l10n.t('Resource leak'),
    secrets: l10n.t('Secrets'),
    suppression: l10n.t('Suppression'),
    thread_safety: l10n.t('Thread safety'),
    type_safety: l10n.t('Type safety'),
    undefined_behaviour: l10n.t('Undefined behaviour'),
    unsafe_api: l10n.t('Unsafe API'),
    unsafe_usage: l10n.t('Use of unsafe'),
  };
  const words = category.replaceAll('_', ' ');
  return names[category] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Languages of a rule as people write them: `C, C++`. */
export function languageNames(languages: readonly string[]): string {
  const names: Record<string, string> = { c: 'C', cpp: 'C++', rust: 'Rust' };
  return languages.map((it) => names[it] ?? it).join(', ');
}

/** A range of the protocol as one of the editor. */
export function toRange({ start, end }: FindingStep['range']): Range {
  return new Range(start.line, start.character, end.line, end.character);
}

/** `file.c:12` */
export function place({ uri, range }: Pick<FindingStep, 'uri' | 'range'>): string {
  return `${fileName(uri)}:${range.start.line + 1}`;
}

/** The path as the user knows it: below the folder, with the folder's name when there are several. */
export function relativePath(uri: string): string {
  return workspace.asRelativePath(Uri.parse(uri));
}

export function fileName(uri: string): string {
  return relativePath(uri).split('/').pop() ?? uri;
}

export function countOf(number: number): string {
  return number === 1 ? l10n.t('1 finding') : l10n.t('{0} findings', number);
}

/** What a screen reader says of a finding. */
export function spokenFinding(finding: FindingItem): string {
  const line = finding.range.start.line + 1;
  const state = finding.suppressed
    ? l10n.t('suppressed')
    : finding.baselined
      ? l10n.t('in the baseline')
      : severityName(finding.severity);
  const spoken = l10n.t(
    '{0}: {1} Rule {2}, {3}, line {4}',
    state,
    finding.message,
    finding.rule,
    fileName(finding.uri),
    line,
  );
  return finding.proof === undefined ? spoken : `${spoken}, ${finding.proof.name}`;
}

/** What a screen reader says of a step on the path to a finding, which counts from 0. */
export function spokenStep(step: FindingStep, at: number, count: number): string {
  const line = step.range.start.line + 1;
  return l10n.t(
    'Step {0} of {1}: {2} {3}, line {4}',
    at + 1,
    count,
    step.message,
    fileName(step.uri),
    line,
  );
}

/** The tooltip: what, where, how sure, and the line of source. */
export function findingTooltip(finding: FindingItem): MarkdownString {
  const tooltip = new MarkdownString('', true);
  tooltip.appendMarkdown(`**${severityName(finding.severity)}** · \`${finding.rule}\``);
  const cwe = finding.cwe.map(
    (number) => `[CWE-${number}](https://cwe.mitre.org/data/definitions/${number}.html)`,
  );
  tooltip.appendMarkdown(cwe.length > 0 ? ` · ${cwe.join(', ')}\n\n` : '\n\n');
  tooltip.appendText(finding.message);
  tooltip.appendCodeblock(finding.evidence.trim(), languageOf(finding.uri));
  tooltip.appendMarkdown(
    l10n.t('Confidence {0} · score {1}', finding.confidence.toFixed(2), finding.score.toFixed(2)),
  );
  tooltip.appendMarkdown(
    `\n\n$(file) ${relativePath(finding.uri)}:${finding.range.start.line + 1}`,
  );
  if (finding.proof !== undefined) {
    tooltip.appendMarkdown('\n\n$(beaker) ');
    tooltip.appendText(finding.proof.text);
  }
  if (finding.agents !== undefined) {
    tooltip.appendMarkdown('\n\n$(verified) ');
    tooltip.appendText(finding.agents.text);
  }
  if (finding.suppressed) {
    tooltip.appendMarkdown(`\n\n$(eye-closed) ${l10n.t('Suppressed by a comment')}`);
  }
  if (finding.baselined) {
    tooltip.appendMarkdown(`\n\n$(archive) ${l10n.t('In the baseline')}`);
  }
  return tooltip;
}

function languageOf(uri: string): string {
  return uri.endsWith('.rs') ? 'rust' : 'cpp';
}
