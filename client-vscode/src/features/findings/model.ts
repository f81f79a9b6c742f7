/**
 * The findings as data: which of them are shown and how they are grouped. Nothing here knows the
 * editor, so that it can be tested by itself.
 */

import type {
  FindingItem,
  FindingsChangedParams,
  FindingsResult,
  ProofVerdict,
  Severity,
} from '../../protocol';

export type Grouping = 'severity' | 'category' | 'file' | 'rule';

/** What running the code has shown; `none` of a finding that was not run, or has changed since. */
export type Shown = ProofVerdict | 'none';

/** What the user wants to see. */
export interface Filter {
  /** Words that must all occur in the message, rule, category, CWE, evidence or path. */
  text: string;
  /** Severities shown. */
  severities: readonly Severity[];
  /** Evidence shown. */
  evidence: readonly Shown[];
  /** Also show findings that a comment in the source suppresses. */
  suppressed: boolean;
  /** Also show findings that the baseline holds. */
  baselined: boolean;
}

/** Findings under one heading. */
export interface Group {
  grouping: Grouping;
  /** Severity, category, file (as URI) or rule. */
  key: string;
  findings: readonly FindingItem[];
}

export const SEVERITIES: readonly Severity[] = ['high', 'medium', 'low'];
export const VERDICTS: readonly ProofVerdict[] = [
  'reproduced',
  'depends_on_caller',
  'refuted',
  'survived',
  'unproven',
];
export const EVIDENCE: readonly Shown[] = [...VERDICTS, 'none'];
export const GROUPINGS: readonly Grouping[] = ['severity', 'category', 'file', 'rule'];
export const EVERYTHING: Filter = {
  text: '',
  severities: SEVERITIES,
  evidence: EVIDENCE,
  suppressed: false,
  baselined: false,
};

/** All findings the server told of, by file. */
export class FindingsModel {
  private files = new Map<string, readonly FindingItem[]>();
  private revision = 0;

  /** @param nameOf the one way to write a URI; the same file may come in several. */
  constructor(private readonly nameOf: (uri: string) => string) {}

  /** Replaces everything. */
  reset(state: FindingsResult): void {
    const files = new Map<string, FindingItem[]>();
    for (const finding of state.findings) {
      const name = this.nameOf(finding.uri);
      const known = files.get(name);
      if (known === undefined) {
        files.set(name, [finding]);
      } else {
        known.push(finding);
      }
    }
    this.files = files;
    this.revision = state.revision;
  }

  /** Takes a change in; an older one than what is known changes nothing. True when it was new. */
  apply(change: FindingsChangedParams): boolean {
    if (change.revision <= this.revision) {
      return false;
    }
    this.revision = change.revision;
    for (const { uri, findings } of change.files) {
      const name = this.nameOf(uri);
      if (findings.length === 0) {
        this.files.delete(name);
      } else {
        this.files.set(name, findings);
      }
    }
    return true;
  }

  /** Forgets everything: the server that told it is gone. */
  clear(): void {
    this.files = new Map();
    this.revision = 0;
  }

  get all(): FindingItem[] {
    return [...this.files.values()].flat();
  }

  /** Findings that want the user's attention. */
  get open(): FindingItem[] {
    return this.all.filter(isOpen);
  }
}

/** Neither suppressed nor in the baseline. */
export function isOpen(finding: FindingItem): boolean {
  return !finding.suppressed && !finding.baselined;
}

/** True when the filter hides anything beyond what is always hidden. */
export function narrows(filter: Filter): boolean {
  return (
    filter.text.trim() !== '' ||
    filter.severities.length < SEVERITIES.length ||
    filter.evidence.length < EVIDENCE.length
  );
}

/** The findings the filter lets through, worst first. */
export function visible(findings: readonly FindingItem[], filter: Filter): FindingItem[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return findings
    .filter((finding) => filter.severities.includes(finding.severity))
    .filter(({ proof }) => filter.evidence.includes(proof?.verdict ?? 'none'))
    .filter((finding) => filter.suppressed || !finding.suppressed)
    .filter((finding) => filter.baselined || !finding.baselined)
    .filter((finding) => words.length === 0 || contains(finding, words))
    .sort(worstFirst);
}

function contains(finding: FindingItem, words: readonly string[]): boolean {
  const cwe = finding.cwe.map((number) => `cwe-${number}`);
  const text = [
    finding.message,
    finding.rule,
    finding.category,
    finding.evidence,
    decoded(finding.uri),
    ...cwe,
  ]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The path as people write it; a URI that is not well formed stays as it is. */
function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function worstFirst(a: FindingItem, b: FindingItem): number {
  return b.score - a.score || inOrder(a, b);
}

function inOrder(a: FindingItem, b: FindingItem): number {
  return compare(a.uri, b.uri) || a.range.start.line - b.range.start.line;
}

function compare(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

/** The findings under headings: severities by weight, the others by their worst finding. */
export function grouped(findings: readonly FindingItem[], grouping: Grouping): Group[] {
  const groups = new Map<string, FindingItem[]>();
  for (const finding of findings) {
    const key = keyOf(finding, grouping);
    const known = groups.get(key);
    if (known === undefined) {
      groups.set(key, [finding]);
    } else {
      known.push(finding);
    }
  }
  const list = [...groups].map(([key, members]) => ({
    grouping,
    key,
    findings: grouping === 'file' ? members.sort(inOrder) : members,
  }));
  return list.sort((a, b) => weight(b) - weight(a) || compare(a.key, b.key));
}

function keyOf(finding: FindingItem, grouping: Grouping): string {
  return grouping === 'file' ? finding.uri : finding[grouping];
}

function weight(group: Group): number {
  const severities = group.findings.map((finding) => finding.severity);
  const worst = Math.min(...severities.map((severity) => SEVERITIES.indexOf(severity)));
  const scale = 1_000_000;
  return -worst * scale + group.findings.length;
}
