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
    private readonly changed: () => void,
  ) {
    this.storage = context.extension;
  }

  /** Gives the server every key there is; it keeps them in memory only. */
  async handOver(): Promise<void> {
    const keys: Record<string, string> = {};
    for (const name of this.names) {
      const key = await this.storage.secrets.get(PREFIX + name);
      if (key !== undefined) {
        keys[name] = key;
      }
    }
    if (Object.keys(keys).length === 0) {
      return;
    }
    await this.send(keys);
  }

  /** Asks for a key and keeps it; without a `variable` the user chooses whose it is. */
  async ask(variable = ''): Promise<void> {
    const name = variable === '' ? await this.choose() : variable;
    if (name === undefined || !NAME.test(name)) {
      return;
    }
    const key = await window.showInputBox({
      title: l10n.t('API key {0}', name),
      prompt: l10n.t("Stored in the editor's secret storage. Leave empty to remove it."),
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) {
      return;
    }
    await this.store(name, key.trim());
  }

  private async store(name: string, key: string): Promise<void> {
    if (key === '') {
      await this.storage.secrets.delete(PREFIX + name);
      await this.remember(this.names.filter((known) => known !== name));
    } else {
      await this.storage.secrets.store(PREFIX + name, key);
      await this.remember([...new Set([...this.names, name])]);
    }
    const keys: Record<string, string> = {};
    for (const known of this.names) {
      keys[known] = (await this.storage.secrets.get(PREFIX + known)) ?? '';
    }
    await this.send(keys);
    this.changed();
    void window.setStatusBarMessage(
      key === '' ? l10n.t('API key {0} removed.', name) : l10n.t('API key {0} saved.', name),
      5000,
    );
  }

  private async choose(): Promise<string | undefined> {
    const { providers } = await this.settings();
    const items = providers.flatMap(itemsOf);
    const title = l10n.t('Select a provider');
    return (await window.showQuickPick(items, { title }))?.label;
  }

  private async send(keys: Record<string, string>): Promise<void> {
    if (this.context.runningClient === undefined) {
      return;
    }
    try {
      await this.context.request(PANEL_KEYS, { keys });
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

function itemsOf(provider: ProviderItem): QuickPickItem[] {
  return provider.variables.map((label) => ({
    label,
    description: provider.name,
    detail: provider.ready ? l10n.t('Key is set') : '',
  }));
}
