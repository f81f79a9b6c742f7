/** What goes along with a message, as chips above the input line. */

import { action, html, icon, type TemplateResult } from '../lit';
import { t } from '../strings';
import type { Attachment } from '../wire';

/** Icons by kind of what goes along. */
export const CHIP_ICONS = { file: 'file', selection: 'list-selection', diagnostics: 'warning' };

export function chip(name: string, label: string, remove: () => void): TemplateResult {
  return html`<span class="chip" title=${label}
    >${icon(name)}<span class="chip-name"><bdi>${label}</bdi></span>${action('close', t('composer.remove', { name: label }), remove)}</span
  >`;
}

export function nameOf({ kind, path, startLine = 0, endLine = 0 }: Attachment): string {
  const name = path.split('/').at(-1) ?? path;
  if (kind === 'diagnostics') {
    return t('composer.problemsOf', { name });
  }
  return startLine > 0 ? `${name}:${startLine}-${endLine}` : name;
}

export function same(one: Attachment, other: Attachment): boolean {
  return (
    one.kind === other.kind &&
    one.path === other.path &&
    (one.root ?? 0) === (other.root ?? 0) &&
    (one.startLine ?? 0) === (other.startLine ?? 0)
  );
}
