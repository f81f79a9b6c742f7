/**
 * The documents of our own pages, the side panel and the overview of a migration: nothing but our
 * own script and styles may run or load in them, and nothing leaves them.
 */

import { randomBytes } from 'node:crypto';
import { Uri, type Webview } from 'vscode';

/** Where the page's files lie inside the extension. */
export function pageFolder(extension: Uri): Uri {
  return Uri.joinPath(extension, 'client-vscode', 'out', 'webview');
}

/**
 * The whole document.
 *
 * @param start what the page finds in its script tag `panel-start`
 * @param name of its script and its styles
 */
export function pageHtml(
  webview: Webview,
  folder: Uri,
  start: { locale: string },
  name: 'panel' | 'migration' = 'panel',
): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (path: string) => webview.asWebviewUri(Uri.joinPath(folder, path)).toString();
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
  <link rel="stylesheet" href="${file(`${name}.css`)}" nonce="${nonce}">
  <title>Jarvis</title>
</head>
<body>
  <div id="app"></div>
  <script type="application/json" id="panel-start" nonce="${nonce}">${inScript(start)}</script>
  <script type="module" src="${file(`${name}.js`)}" nonce="${nonce}"></script>
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
