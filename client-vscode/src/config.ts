/**
 * The settings `jarvisLs.*` as the server wants them. The defaults stand in `package.json`; the
 * server gets all of them at start and again whenever one changes, and asks for those of a single
 * folder itself in a workspace with several.
 */

import { env, workspace } from 'vscode';
import { DEFAULT_SETTINGS, type InitializationOptions, SETTINGS_SECTION } from './protocol';

/** Everything the server is told when it starts. */
export function initializationOptions(): InitializationOptions {
  const section = workspace.getConfiguration(SETTINGS_SECTION, null);
  const read = <T>(key: string, otherwise: T): T => section.get<T>(key) ?? otherwise;
  return {
    enable: read('enable', DEFAULT_SETTINGS.enable),
    debounce: read('debounce', DEFAULT_SETTINGS.debounce),
    workspaceScan: read('workspaceScan', DEFAULT_SETTINGS.workspaceScan),
    minConfidence: read('minConfidence', DEFAULT_SETTINGS.minConfidence),
    rules: read('rules', DEFAULT_SETTINGS.rules),
    exclude: read('exclude', DEFAULT_SETTINGS.exclude),
    maxFileSize: read('maxFileSize', DEFAULT_SETTINGS.maxFileSize),
    flow: read('flow', DEFAULT_SETTINGS.flow),
    installedHeaders: read('installedHeaders', DEFAULT_SETTINGS.installedHeaders),
    valueHints: read('valueHints', DEFAULT_SETTINGS.valueHints),
    crateFolder: read('crateFolder', DEFAULT_SETTINGS.crateFolder),
    projectBuild: read('projectBuild', DEFAULT_SETTINGS.projectBuild),
    trusted: workspace.isTrusted,
    locale: env.language,
  };
}

/** The interpreter the user chose, with the variables `${workspaceFolder}` and `~` filled in. */
export function chosenInterpreter(home: string): string | undefined {
  const given = workspace.getConfiguration(SETTINGS_SECTION).get<unknown>('interpreter') ?? '';
  // VS Code shows what is not text as wrong, and hands it over.
  const value = (typeof given === 'string' ? given : JSON.stringify(given)).trim();
  if (value === '') {
    return undefined;
  }
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? home;
  const filled = value.replace(/\$\{workspaceFolder\}/g, () => folder);
  return filled.startsWith('~/') ? home + filled.slice(1) : filled;
}
