/** What stands where no conversation is yet: what can be done, and what to set when no model is. */

import { html, icon, nothing, type TemplateResult } from '../lit';
import type { Page } from '../page';
import { t } from '../strings';
import type { CommandItem, Suggestion } from '../wire';

export function welcome(page: Page, insert: (text: string) => void): TemplateResult {
  const { models, picture } = page;
  if (picture === undefined) {
    return html`<div class="welcome-inner"><p class="fine">${icon('loading', true)} ${t('welcome.loading')}</p></div>`;
  }
  const commands = picture.commands.filter((it) => models?.ready === true || !it.needsModel);
  return html`<div class="welcome-inner">
    ${
      models?.ready === false
        ? noModel(page)
        : html`<h3>${t('welcome.title')}</h3>
            <p>${t('welcome.text')}</p>`
    }
    ${
      picture.suggestions.length > 0
        ? html`<h4>${t('welcome.suggestions')}</h4>
            <ul class="commands suggestions">
              ${picture.suggestions.map((it) => suggestion(it, insert))}
            </ul>`
        : nothing
    }
    ${
      commands.length > 0
        ? html`<h4>${t(models?.ready === false ? 'welcome.withoutModel' : 'welcome.commands')}</h4>
            <ul class="commands">
              ${commands.map((it) => command(it, insert))}
            </ul>`
        : nothing
    }
    <p class="fine keys">${t('welcome.keys')}</p>
  </div>`;
}

function noModel(page: Page): TemplateResult {
  return html`<section class="card" aria-labelledby="no-model">
    <h3 id="no-model">${icon('plug')} ${t('noModel.title')}</h3>
    <p>${page.models?.advice || t('noModel.text')}</p>
    <div class="consent-buttons">
      <vscode-button data-part="set-up" @click=${() => void page.ask({ kind: 'set_up_model' })}
        >${t('noModel.setUp')}</vscode-button
      >
      <vscode-button secondary @click=${() => void page.ask({ kind: 'open_settings' })}
        >${t('noModel.settings')}</vscode-button
      >
    </div>
  </section>`;
}

function suggestion({ title, text }: Suggestion, insert: (text: string) => void): TemplateResult {
  return html`<li>
    <button type="button" class="command" @click=${() => insert(text)}>
      ${icon('lightbulb-sparkle')}<span>${title}</span>
    </button>
  </li>`;
}

function command(
  { name, title, argument }: CommandItem,
  insert: (text: string) => void,
): TemplateResult {
  return html`<li>
    <button type="button" class="command" @click=${() => insert(argument ? `${name} ` : name)}>
      <code>${name}</code><span>${title}</span>
    </button>
  </li>`;
}
