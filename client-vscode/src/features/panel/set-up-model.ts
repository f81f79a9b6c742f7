/**
 * Sets up a model in one flow: the user picks a provider, gives its key, sees it checked in the
 * provider's own words, picks a model, and can chat. The choice is written to the user's own
 * configuration, the key goes to the editor's secret storage once a model was picked with it.
 */

import {
  env,
  l10n,
  ProgressLocation,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  Uri,
  window,
} from 'vscode';
import { reason } from '../../log';
import type {
  Ask,
  AskAnswers,
  ModelWrong,
  ProviderChecked,
  ProviderOffer,
} from '../../panel-protocol';
import type { Keys } from './keys';

export interface SetupParts {
  keys: Keys;
  ask<A extends Ask>(ask: A): Promise<AskAnswers[A['kind']]>;
  /** Models have changed; the page is to show that and take what is typed. */
  done(): Promise<void>;
}

/** Where models are served: a provider that is known, or an address. */
interface Place {
  provider: string;
  base: string;
  title: string;
  keyPage: string;
  needsKey: boolean;
  hasKey: boolean;
}

type Next = 'again' | 'key' | 'provider' | 'model' | undefined;

/** Leads the user through the flow; `provider` skips the first step. */
export async function setUpModel(parts: SetupParts, provider = ''): Promise<void> {
  try {
    let wanted = provider;
    for (;;) {
      const place = await choosePlace(parts, wanted);
      if (place === undefined || (await setUpAt(parts, place)) !== 'provider') {
        return;
      }
      wanted = '';
    }
  } catch (error) {
    void window.showErrorMessage(reason(error));
  } finally {
    await parts.keys.endTrial();
  }
}

/** Checks a key where it is for; false when the user gave up or wants another one. */
export async function isAccepted(
  parts: Pick<SetupParts, 'keys' | 'ask'>,
  provider: string,
  key: string,
): Promise<boolean | 'another'> {
  try {
    await parts.keys.try(key);
    const checked = await busy(l10n.t('Checking the key…'), () =>
      parts.ask({ kind: 'check_provider', provider }),
    );
    if (checked.wrong === '') {
      return true;
    }
    const another = l10n.t('Enter Another Key');
    const anyway = l10n.t('Save Anyway');
    const choice = await window.showErrorMessage(checked.why, another, anyway);
    return choice === another ? 'another' : choice === anyway;
  } finally {
    await parts.keys.endTrial();
  }
}

async function setUpAt(parts: SetupParts, place: Place): Promise<Next> {
  let key = await keyFor(place);
  for (let next: Next = 'again'; ; ) {
    if (key === undefined || next === undefined || next === 'provider') {
      return next;
    }
    if (next === 'key') {
      key = await typeKey(place);
      next = 'again';
      continue;
    }
    await parts.keys.try(key);
    const { provider, base } = place;
    const checked = await busy(l10n.t('Checking {0}…', place.title), () =>
      parts.ask({ kind: 'check_provider', provider, base }),
    );
    next =
      checked.wrong === ''
        ? await useOne(parts, place, checked, key)
        : await afterProblem(checked.wrong, checked.why);
  }
}

/** Has the user choose a model and uses it; undefined when that is done, or given up. */
async function useOne(
  parts: SetupParts,
  place: Place,
  checked: ProviderChecked,
  key: string,
): Promise<Next> {
  for (;;) {
    const model = await chooseModel(place, checked.models);
    if (model === undefined) {
      return undefined;
    }
    const used = await busy(l10n.t('Setting up {0}…', model), () =>
      parts.ask({ kind: 'use_model', provider: checked.name, model, base: place.base }),
    );
    if (used.wrong === '') {
      if (key !== '') {
        await parts.keys.keep(checked.variable, key);
      } else {
        await parts.keys.endTrial();
      }
      await parts.done();
      const ready = l10n.t('{0} is ready. Saved in {1}.', used.label, used.file);
      if (used.notes.length > 0) {
        void window.showWarningMessage([ready, ...used.notes].join(' '));
      } else {
        void window.showInformationMessage(ready);
      }
      return undefined;
    }
    const next = await afterProblem(used.wrong, used.why);
    if (next !== 'model') {
      return next;
    }
  }
}

/** Says what is wrong, in the provider's words, with what can be done about it. */
async function afterProblem(wrong: ModelWrong, why: string): Promise<Next> {
  const actions: [string, Next][] = [];
  if (wrong === 'key') {
    actions.push([l10n.t('Enter Another Key'), 'key']);
  } else if (wrong === 'model') {
    actions.push([l10n.t('Choose Another Model'), 'model']);
  } else {
    actions.push([l10n.t('Retry'), 'again']);
  }
  actions.push([l10n.t('Choose Another Provider'), 'provider']);
  const choice = await window.showErrorMessage(why, ...actions.map(([label]) => label));
  return actions.find(([label]) => label === choice)?.[1];
}

async function choosePlace(parts: SetupParts, wanted: string): Promise<Place | undefined> {
  const { offers } = await busy(l10n.t('Looking for providers…'), () =>
    parts.ask({ kind: 'providers' }),
  );
  const known = offers.find(({ name }) => name === wanted);
  if (known !== undefined) {
    return placeOf(known);
  }
  const other = { label: l10n.t('Other Address…'), iconPath: new ThemeIcon('globe') };
  const items: (QuickPickItem & { offer?: ProviderOffer })[] = [
    ...offers.map((offer) => ({ ...itemOf(offer), offer })),
    { label: '', kind: QuickPickItemKind.Separator },
    other,
  ];
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Set Up a Model: Provider'),
    placeHolder: l10n.t('Who runs the model?'),
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  if (chosen === undefined) {
    return undefined;
  }
  return chosen.offer === undefined ? await typeAddress() : placeOf(chosen.offer);
}

function placeOf({ name, title, variable, keyPage, hasKey }: ProviderOffer): Place {
  return { provider: name, base: '', title, keyPage, needsKey: variable !== '', hasKey };
}

function itemOf({ title, running, here, hasKey, models, base }: ProviderOffer): QuickPickItem {
  const icon = new ThemeIcon(running ? 'vm-running' : here ? 'vm' : hasKey ? 'key' : 'cloud');
  const state = running
    ? l10n.t('running on this machine, {0} models', models.length)
    : hasKey
      ? l10n.t('Key is set')
      : here
        ? l10n.t('not running')
        : '';
  return { label: title, description: state, iconPath: icon, ...(here ? { detail: base } : {}) };
}

async function typeAddress(): Promise<Place | undefined> {
  const base = await window.showInputBox({
    title: l10n.t('Set Up a Model: Address'),
    prompt: l10n.t('Address of a server that speaks the protocol of OpenAI.'),
    placeHolder: 'https://llm.example.com/v1',
    ignoreFocusOut: true,
    validateInput: (text) =>
      text === '' || /^https?:\/\/[^/\s]/.test(text.trim())
        ? undefined
        : l10n.t('An address begins with https:// or http://.'),
  });
  if (base === undefined || base.trim() === '') {
    return undefined;
  }
  const title = base.trim();
  return { provider: '', base: title, title, keyPage: '', needsKey: true, hasKey: false };
}

/** The key to use: empty for the one that is set, or where none is needed. */
async function keyFor(place: Place): Promise<string | undefined> {
  if (!place.needsKey) {
    return '';
  }
  if (!place.hasKey) {
    return typeKey(place);
  }
  const set = { label: l10n.t('Use the Key That Is Set'), iconPath: new ThemeIcon('key') };
  const other = { label: l10n.t('Enter Another Key'), iconPath: new ThemeIcon('edit') };
  const title = l10n.t('Set Up a Model: Key of {0}', place.title);
  const chosen = await window.showQuickPick([set, other], { title, ignoreFocusOut: true });
  return chosen === undefined ? undefined : chosen === set ? '' : typeKey(place);
}

function typeKey({ title, keyPage, base }: Place): Promise<string | undefined> {
  return typeSecret({
    title: l10n.t('Set Up a Model: Key of {0}', title),
    prompt:
      keyPage !== ''
        ? l10n.t('Keys are made at {0}', keyPage)
        : l10n.t('Leave empty when the server takes no key.'),
    page: keyPage,
    mayBeEmpty: base !== '',
  });
}

interface Secret {
  title: string;
  prompt: string;
  /** A web page for the button beside the field; empty for none. */
  page: string;
  mayBeEmpty: boolean;
}

/** Asks for a key; it is not shown. */
function typeSecret({ title, prompt, page, mayBeEmpty }: Secret): Promise<string | undefined> {
  const input = window.createInputBox();
  Object.assign(input, { title, prompt, password: true, ignoreFocusOut: true });
  input.placeholder = l10n.t('API key');
  if (page !== '') {
    const tooltip = l10n.t('Open the page where keys are made');
    input.buttons = [{ iconPath: new ThemeIcon('link-external'), tooltip }];
  }
  return new Promise((resolve) => {
    input.onDidTriggerButton(() => void env.openExternal(Uri.parse(page, true)));
    input.onDidAccept(() => {
      const key = input.value.trim();
      if (key !== '' || mayBeEmpty) {
        resolve(key);
        input.hide();
      }
    });
    input.onDidHide(() => {
      resolve(undefined);
      input.dispose();
    });
    input.show();
  });
}

/** A model of the list, or one that is typed. */
function chooseModel({ title }: Place, models: readonly string[]): Promise<string | undefined> {
  const pick = window.createQuickPick();
  const items = models.map((label) => ({ label }));
  pick.title = l10n.t('Set Up a Model: Model of {0}', title);
  pick.placeholder =
    models.length > 0
      ? l10n.t('Pick a model, or type the name of another')
      : l10n.t('The provider does not list its models: type the name of one');
  pick.ignoreFocusOut = true;
  pick.items = items;
  return new Promise((resolve) => {
    pick.onDidChangeValue((value) => {
      const typed = value.trim();
      const description = l10n.t('as typed');
      if (typed !== '' && !models.includes(typed)) {
        pick.items = [...items, { label: typed, description, alwaysShow: true }];
      } else if (pick.items.length > items.length) {
        pick.items = items; // only then: a list that is set anew loses the chosen row
      }
    });
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen !== undefined) {
        resolve(chosen.label);
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function busy<T>(title: string, work: () => Promise<T>): Promise<T> {
  const options = { location: ProgressLocation.Notification, title };
  return Promise.resolve(window.withProgress(options, work));
}
