/**
 * Our server of the Model Context Protocol, offered to the agents of the editor: one for each folder
 * of the workspace, started by the editor when one of its agents uses it. Editors before VS Code 1.101
 * have no such offer; the tools of `language-tools.ts` work there all the same.
 */

import * as vscode from 'vscode';
import type { JarvisContext } from '../context';
import { serverCommand } from '../server';

/** Names the provider, here and in the manifest. */
const PROVIDER = 'jarvis';

/** How a tool server is started. */
export interface ToolServer {
  label: string;
  command: string;
  args: string[];
}

/** What the editor has from 1.101 on; our typings are older. */
interface Offers {
  lm: {
    registerMcpServerDefinitionProvider?(id: string, provider: Provider): vscode.Disposable;
  };
  McpStdioServerDefinition?: new (
    label: string,
    command: string,
    args: string[],
    env: Record<string, string>,
    version: string,
  ) => object;
}

interface Provider {
  onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): Promise<object[]>;
}

export function activate(context: JarvisContext): void {
  const { lm, McpStdioServerDefinition: Definition } = vscode as unknown as Offers;
  if (
    !hasOffers(context.extension.extension.packageJSON) ||
    lm.registerMcpServerDefinitionProvider === undefined ||
    Definition === undefined
  ) {
    context.log.info('This editor takes no tool servers from extensions.');
    return;
  }
  const changed = new vscode.EventEmitter<void>();
  const version = String(context.extension.extension.packageJSON.version);
  context.subscriptions.push(
    changed,
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    lm.registerMcpServerDefinitionProvider(PROVIDER, {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () =>
        (await toolServers(context)).map(
          ({ label, command, args }) => new Definition(label, command, args, {}, version),
        ),
    }),
  );
}

/**
 * Whether the editor takes what we offer: 1.100 has the functions, but throws when an extension uses
 * them whose manifest does not name the proposal.
 */
function hasOffers({ enabledApiProposals = [] }: { enabledApiProposals?: string[] }): boolean {
  const [major = 0, minor = 0] = vscode.version.split('.').map(Number);
  return major > 1 || minor > 100 || enabledApiProposals.includes('mcpConfigurationProvider');
}

/**
 * The tool server of each folder of the workspace. What builds and runs code is refused by it in a
 * workspace that is not trusted.
 *
 * @throws NoPythonError or UnsupportedPythonError, both written for the user.
 */
export async function toolServers({ extension, log }: JarvisContext): Promise<ToolServer[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === 'file',
  );
  if (folders.length === 0) {
    return [];
  }
  const { command, args = [] } = await serverCommand(extension.extensionPath, log);
  const trust = vscode.workspace.isTrusted ? ['--trust'] : [];
  return folders.map(({ name, uri }) => ({
    label: folders.length === 1 ? 'Jarvis' : `Jarvis: ${name}`,
    command,
    args: [...args, 'mcp', uri.fsPath, ...trust],
  }));
}
