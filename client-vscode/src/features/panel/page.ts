/**
 * The document the side panel is: nothing but our own script and styles may run or load in it, and
 * nothing leaves it.
 */

import { randomBytes } from 'node:crypto';
import { Uri, type Webview } from 'vscode';
import type { PanelStart } from '../../panel-protocol';

/** Where the page's files lie inside the extension. */
export function pageFolder(extension: Uri): Uri {
  return Uri.joinPath(extension, 'client-vscode', 'out', 'webview');
}

/** The whole document; `start` is what the page finds in its script tag `panel-start`. */
export function pageHtml(webview: Webview, folder: Uri, start: PanelStart): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (name: string) => webview.asWebviewUri(Uri.joinPath(folder, name)).toString();
  const policy = [
    "default-src 'none'",
    `img-src ${webview.cspSource} data:`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `font-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${attribute(start.locale)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" href="${file('codicon.css')}" id="vscode-codicon-stylesheet" nonce="${nonce}">
  <link rel="stylesheet" href="${file('panel.css')}" nonce="${nonce}">
  <title>Jarvis</title>
</head>
<body>
  <div id="app"></div>
  <script type="application/json" id="panel-start" nonce="${nonce}">${inScript(start)}</script>
  <script type="module" src="${file('panel.js')}" nonce="${nonce}"></script>
</body>
</html>`;
}

/** JSON that cannot end the script tag it stands in. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function attribute(text: string): string {
  return text.replace(/[^\w-]/g, '');
}
