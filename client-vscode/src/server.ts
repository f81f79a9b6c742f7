/**
 * How the server is started: from the libraries inside the extension when it was packaged, from
 * `.venv` in a development checkout. Either way Python runs isolated (`-I`): neither the workspace
 * nor the user's environment variables can put another module in place of ours.
 */

import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { type LogOutputChannel, l10n } from 'vscode';
import type { Executable } from 'vscode-languageclient/node';
import { findInterpreter, type Interpreter } from './python';

/** The interpreter is fine, but this package of the extension has no compiled parts for it. */
export class UnsupportedPythonError extends Error {
  constructor(interpreter: Interpreter, supported: readonly string[]) {
    super(
      l10n.t(
        'Jarvis has no libraries for Python {0}, only for {1}.',
        interpreter.version.join('.'),
        supported.join(', '),
      ),
    );
    this.name = 'UnsupportedPythonError';
  }
}

/**
 * The command that starts the server.
 *
 * @param extensionPath folder of the installed extension or of the checkout.
 * @param log told what is left out.
 * @throws NoPythonError or UnsupportedPythonError, both written for the user.
 */
export async function serverCommand(
  extensionPath: string,
  log: LogOutputChannel,
): Promise<Executable> {
  const libraries = path.join(extensionPath, 'bundled', 'libs');
  const packaged = await exists(path.join(libraries, 'common'));
  const environment = packaged ? undefined : developmentPython(extensionPath);
  const interpreter = await findInterpreter(extensionPath, log, environment);
  if (packaged) {
    await checkCompiledParts(libraries, interpreter);
  }
  return {
    command: interpreter.path,
    args: ['-I', '-X', 'utf8', path.join(extensionPath, 'bundled', 'tool', 'server.py')],
    options: { cwd: extensionPath, env: { ...process.env } },
  };
}

async function checkCompiledParts(libraries: string, interpreter: Interpreter): Promise<void> {
  const wanted = `cp${interpreter.version.join('')}`;
  const present = (await readdir(libraries)).filter((name) => name.startsWith('cp'));
  if (!present.includes(wanted)) {
    const versions = present.map((name) => `${name.slice(2, 3)}.${name.slice(3)}`);
    throw new UnsupportedPythonError(interpreter, versions.sort(byMinor));
  }
}

function byMinor(a: string, b: string): number {
  return Number(a.split('.')[1]) - Number(b.split('.')[1]);
}

function developmentPython(extensionPath: string): string {
  return process.platform === 'win32'
    ? path.join(extensionPath, '.venv', 'Scripts', 'python.exe')
    : path.join(extensionPath, '.venv', 'bin', 'python');
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
