/** What the user said: with its pictures, and the ways back to before it. */

import { action, html, icon, nothing, render, type Shown } from '../lit';
import { openMenu } from '../menu';
import { counted, t } from '../strings';
import type { Image, RewindWhat, UserEntry } from '../wire';
import type { Chat } from './row';

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export class UserRow {
  readonly element = document.createElement('div');

  constructor(private readonly chat: Chat) {}

  show(entry: UserEntry): void {
    this.element.setAttribute('aria-label', t(entry.queued ? 'user.queuedLabel' : 'user.label'));
    this.element.classList.toggle('queued', entry.queued);
    render(
      html`<div class="said">${entry.text}</div>
        ${entry.images.length > 0 ? html`<div class="pictures">${entry.images.map(picture)}</div>` : nothing}
        <div class="row-actions">${this.marks(entry)} ${this.actions(entry)}</div>`,
      this.element,
    );
  }

  private marks(entry: UserEntry): Shown {
    return entry.queued
      ? html`<span class="mark" title=${t('user.queuedDetail')}>${icon('clock')}${t('user.queued')}</span>`
      : nothing;
  }

  private actions(entry: UserEntry): Shown {
    if (entry.queued) {
      return html`${action('edit', t('user.editQueued'), () => this.takeBack(entry, true))}
      ${action('trash', t('user.removeQueued'), () => this.takeBack(entry, false))}`;
    }
    return html`${action('copy', t('copy'), () => {
      void this.chat.page.ask({ kind: 'copy', text: entry.text });
    })}
    ${action(
      'discard',
      t('user.rewind'),
      (event) => this.rewindMenu(event.currentTarget as HTMLElement, entry),
      { menu: true },
    )}
    ${action('repo-forked', t('user.fork'), () => this.fork(entry))}`;
  }

  private async takeBack(entry: UserEntry, edit: boolean): Promise<void> {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const back = await page.ask({ kind: 'rewind', session, entry: entry.id, what: 'conversation' });
    if (back !== undefined && edit) {
      this.chat.edit(entry.text);
    }
  }

  private rewindMenu(anchor: HTMLElement, entry: UserEntry): void {
    const files = entry.checkpoint !== '';
    const item = (what: RewindWhat, name: string) => ({
      label: t(`rewind.${what}`),
      detail:
        what !== 'conversation' && !files ? t('rewind.noCheckpoint') : t(`rewind.${what}.detail`),
      icon: name,
      disabled: what !== 'conversation' && !files,
      run: () => void this.rewind(entry, what),
    });
    openMenu(anchor, t('user.rewind'), [
      item('both', 'history'),
      item('files', 'files'),
      item('conversation', 'comment-discussion'),
    ]);
  }

  private async rewind(entry: UserEntry, what: RewindWhat): Promise<void> {
    const { page } = this.chat;
    if (!(await page.confirm(t(`rewind.${what}.confirm`), t('rewind.action')))) {
      return;
    }
    const session = page.store.session?.id ?? '';
    const back = await page.ask({ kind: 'rewind', session, entry: entry.id, what });
    if (back === undefined) {
      return;
    }
    if (what !== 'files') {
      this.chat.edit(back.text);
    }
    const { kept } = back;
    const files = what === 'conversation' ? '' : counted('files', back.files.length);
    const told = kept.length > 0 ? t('rewind.kept', { files, kept: kept.join(', ') }) : '';
    page.tell(told || (files ? t('rewind.doneFiles', { files }) : t('rewind.done')));
  }

  private async fork(entry: UserEntry): Promise<void> {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const opened = await page.ask({ kind: 'fork', session, entry: entry.id });
    if (opened !== undefined) {
      await page.attach(opened.session);
      this.chat.edit(entry.text);
    }
  }
}

function picture(image: Image): Shown {
  if (!PICTURE.test(image.mediaType) || !BASE64.test(image.base64)) {
    return html`<span class="mark">${icon('warning')}${t('picture.broken')}</span>`;
  }
  return html`<img
    src="data:${image.mediaType};base64,${image.base64}"
    alt=${t('picture.alt')}
    class="picture"
  />`;
}
