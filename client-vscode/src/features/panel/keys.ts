/**
 * Keys of model providers. The user gives one once; it lies in the editor's secret storage, is
 * handed to the running server over the protocol, and is never in a settings file or a log.
 */

import { type ExtensionContext, l10n, type QuickPickItem, window } from 'vscode';
import type { JarvisContext } from '../../context';
import { reason } from '../../log';
import type { ProviderItem, SettingsShown } from '../../panel-protocol';
import { PANEL_KEYS } from '../../protocol';

const NAMES = 'panel.keyNames';
const PREFIX = 'key:';
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

export class Keys {
  private readonly storage: ExtensionContext;

  constructor(
    private readonly context: JarvisContext,
    private readonly settings: () => Promise<SettingsShown>,
    private readonly isAccepted: (provider: string, key: string) => Promise<boolean | 'another'>,
    private readonly changed: () => void,
  ) {
    this.storage = context.extension;
  }

  /** Gives the server every key there is; it keeps them in memory only. */
  async handOver(): Promise<void> {
    const keys = await this.all();
    if (Object.keys(keys).length > 0) {
      await this.send(keys);
    }
  }

  /**
   * Asks for a key, has it checked and keeps it; without a `variable` and a `provider` the user
   * chooses whose it is.
   */
  async ask(variable = '', provider = ''): Promise<void> {
    const whose = await this.find(variable, provider);
    if (whose === undefined || !NAME.test(whose.variable)) {
      return;
    }
    for (;;) {
      const typed = await window.showInputBox({
        title: l10n.t('API key {0}', whose.variable),
        prompt: l10n.t("Stored in the editor's secret storage. Leave empty to remove it."),
        password: true,
        ignoreFocusOut: true,
      });
      if (typed === undefined) {
        return;
      }
      const key = typed.trim();
      const accepted = key === '' || (await this.isAccepted(whose.provider, key));
      if (accepted === true) {
        await this.keep(whose.variable, key);
        return;
      }
      if (accepted === false) {
        return;
      }
    }
  }

  /** Hands a key over that is only to be checked by what is asked next. */
  async try(key: string): Promise<void> {
    await this.send(await this.all(), key);
  }

  /** Has the server forget the key on trial. */
  async endTrial(): Promise<void> {
    await this.send(await this.all(), '');
  }

  /** Stores a key and hands it over; an empty one is removed. */
  async keep(name: string, key: string): Promise<void> {
    if (key === '') {
      await this.storage.secrets.delete(PREFIX + name);
      await this.remember(this.names.filter((known) => known !== name));
    } else {
      await this.storage.secrets.store(PREFIX + name, key);
      await this.remember([...new Set([...this.names, name])]);
    }
    await this.send(await this.all());
    this.changed();
    void window.setStatusBarMessage(
      key === '' ? l10n.t('API key {0} removed.', name) : l10n.t('API key {0} saved.', name),
      5000,
    );
  }

  private async all(): Promise<Record<string, string>> {
    const keys: Record<string, string> = {};
    for (const name of this.names) {
      const key = await this.storage.secrets.get(PREFIX + name);
      if (key !== undefined) {
        keys[name] = key;
      }
    }
    return keys;
  }

  /** Whose key is meant: as it was said, or as the user chooses. */
  private async find(variable: string, provider: string): Promise<Whose | undefined> {
    if (variable !== '') {
      return { variable, provider };
    }
    const { providers } = await this.settings();
    const [known] = providers.find(({ name }) => name === provider)?.variables ?? [];
    if (known !== undefined) {
      return { variable: known, provider };
    }
    const items = providers.flatMap(itemsOf);
    const title = l10n.t('Select a provider');
    const chosen = await window.showQuickPick(items, { title });
    return chosen && { variable: chosen.label, provider: chosen.description };
  }

  private async send(keys: Record<string, string>, trial?: string): Promise<void> {
    if (this.context.runningClient === undefined) {
      return;
    }
    try {
      await this.context.request(PANEL_KEYS, trial === undefined ? { keys } : { keys, trial });
    } catch (error) {
      this.context.log.error(`Keys were not handed over: ${reason(error)}`);
    }
  }

  private get names(): string[] {
    return this.storage.globalState.get<string[]>(NAMES, []);
  }

  private async remember(names: string[]): Promise<void> {
    await this.storage.globalState.update(NAMES, names);
  }
}

interface Whose {
  /** The environment variable that holds the key. */
  variable: string;
  /** The name of the provider; empty when only the variable is known. */
  provider: string;
}

function itemsOf(provider: ProviderItem): (QuickPickItem & { description: string })[] {
  return provider.variables.map((label) => ({
    label,
    description: provider.name,
    detail: provider.ready ? l10n.t('Key is set') : '',
  }));
}
