/** What is configured and where: models and their keys, tools, permissions, skills, servers, rules. */

import { html, icon, nothing, render, type TemplateResult } from './lit';
import type { Page, View } from './page';
import type { Changes } from './store';
import { t } from './strings';
import type { ModelState, ProviderItem, SettingGroup, SettingsShown } from './wire';

export class SettingsView implements View {
  readonly element = document.createElement('div');
  private shown: SettingsShown | undefined;

  constructor(private readonly page: Page) {
    this.element.className = 'settings';
  }

  draw(changes?: Changes): void {
    if (changes === undefined || changes.everything) {
      void this.fetch();
    }
    this.drawList();
  }

  private async fetch(): Promise<void> {
    const shown = await this.page.ask({ kind: 'settings' });
    if (shown !== undefined) {
      this.shown = shown;
      this.drawList();
    }
  }

  private drawList(): void {
    const { shown } = this;
    const { models } = this.page;
    render(
      html`<section aria-labelledby="settings-models">
          <h2 id="settings-models">${t('settings.models')}</h2>
          ${models?.ready === false ? html`<p class="banner" data-level="warning">${icon('warning')}${models.advice || t('noModel.text')}</p>` : nothing}
          ${models === undefined ? nothing : this.groups(models)}
          <div class="settings-actions">
            <button type="button" class="plain-button" @click=${() => void this.page.ask({ kind: 'set_up_model' })}>
              ${t('noModel.setUp')}
            </button>
            <button type="button" class="plain-button secondary" @click=${() => void this.setKey('', '')}>${t('noModel.key')}</button>
            <button type="button" class="plain-button secondary" @click=${() => void this.page.ask({ kind: 'open_settings' })}>
              ${t('settings.open')}
            </button>
          </div>
          ${shown ? html`<p class="fine file-name"><bdi>${shown.file}</bdi></p>` : nothing}
        </section>
        ${shown && shown.providers.length > 0 ? this.providers(shown.providers) : nothing}
        ${shown?.groups.map(group) ?? nothing}
        <section aria-labelledby="settings-keys">
          <h2 id="settings-keys">${t('settings.keys')}</h2>
          <dl class="keys-list">
            ${KEYS.map(([keys, what]) => html`<div><dt>${keys.split(' ').map((key, index) => html`${index > 0 ? ' ' : ''}<kbd>${key}</kbd>`)}</dt><dd>${t(what)}</dd></div>`)}
          </dl>
        </section>`,
      this.element,
    );
  }

  private groups({ choices, current }: ModelState): TemplateResult {
    return html`<ul class="setting-lines">
      ${choices.map(
        ({ name, models, ready }) =>
          html`<li>
            <span class="setting-name">${icon(name === current ? 'check' : 'blank')} ${name}</span>
            <span class="setting-value"><bdi>${models.join(', ')}</bdi></span>
            ${ready ? nothing : html`<span class="badge" data-level="warning">${t('settings.noKey')}</span>`}
          </li>`,
      )}
    </ul>`;
  }

  private providers(providers: readonly ProviderItem[]): TemplateResult {
    return html`<section aria-labelledby="settings-providers">
      <h2 id="settings-providers">${t('settings.providers')}</h2>
      <ul class="setting-lines">
        ${providers.map(
          (it) =>
            html`<li>
              <span class="setting-name">${icon(it.ready ? 'pass' : 'circle-large-outline')}<span class="spoken">${t(it.ready ? 'settings.ready' : 'settings.noKey')}</span> ${it.name}</span>
              <span class="setting-value"><bdi>${it.base || it.type}</bdi></span>
              ${
                it.variables.length > 0
                  ? html`<button
                      type="button"
                      class="link-button"
                      @click=${() => void this.setKey(it.variables[0] ?? '', it.name)}
                    >
                      ${t(it.ready ? 'settings.changeKey' : 'settings.setKey')}<span class="spoken"> ${it.name}</span>
                    </button>`
                  : nothing
              }
            </li>`,
        )}
      </ul>
    </section>`;
  }

  private async setKey(variable: string, provider: string): Promise<void> {
    if ((await this.page.ask({ kind: 'set_key', variable, provider })) !== undefined) {
      await this.fetch();
    }
  }
}

const LEVEL_ICONS = { info: 'blank', warning: 'warning', error: 'error' };

function group({ title, lines }: SettingGroup, index: number): TemplateResult {
  const id = `settings-group-${index}`;
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title} <span class="fine">${lines.length}</span></h2>
    <ul class="setting-lines">
      ${lines.map(
        ({ name, value, detail, level }) =>
          html`<li data-level=${level} title=${detail || nothing}>
            <span class="setting-name">${icon(LEVEL_ICONS[level])} <bdi>${name}</bdi></span>
            <span class="setting-value"><bdi>${value}</bdi></span>
            ${detail ? html`<span class="setting-detail"><bdi>${detail}</bdi></span>` : nothing}
          </li>`,
      )}
    </ul>
  </section>`;
}

const KEYS = [
  ['Enter', 'keys.send'],
  ['Shift+Enter', 'keys.newline'],
  ['Esc', 'keys.stop'],
  ['Ctrl+Enter', 'keys.allow'],
  ['Ctrl+Backspace', 'keys.deny'],
  ['Alt+↑', 'keys.leave'],
  ['↑ ↓', 'keys.rows'],
  ['@ /', 'keys.complete'],
] as const;
