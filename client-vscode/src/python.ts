/**
 * Finding the Python that runs the server. The user gets a running server without setting anything
 * up when any Python >= 3.10 is on the machine: the setting `jarvisLs.interpreter` decides, else the
 * Python extension's choice when that extension is installed, else `python3` or `python` on PATH.
 * Each candidate is run once and asked for its version. When none fits, the error lists every
 * candidate with the reason and names the setting.
 */

import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { extensions, type LogOutputChannel, l10n, workspace } from 'vscode';
import { chosenInterpreter } from './config';
import { reason } from './log';

/** An interpreter that answered and is new enough. */
export interface Interpreter {
  /** Absolute path of the program. */
  path: string;
  /** Its version, for example `[3, 11]`. */
  version: readonly [major: number, minor: number];
}

/** No interpreter fits. `attempts` says what was tried and why it was refused. */
export class NoPythonError extends Error {
  constructor(readonly attempts: readonly string[]) {
    super(
      attempts.length > 0
        ? l10n.t('Jarvis found no Python 3.10 or newer. Tried: {0}.', attempts.join('; '))
        : l10n.t('Jarvis found no Python 3.10 or newer on the PATH.'),
    );
    this.name = 'NoPythonError';
  }
}

const OLDEST = 10;
const PROBE_MS = 60_000;
/** The Python extension may load long, or wait for its user; ours does not. */
const PYTHON_EXTENSION_MS = 10_000;
const PROBE =
  'import json, sys; print(json.dumps([sys.implementation.name, *sys.version_info[:2]]))';
const run = promisify(execFile);

/**
 * Finds an interpreter.
 *
 * @param folder working directory of the probes; never the user's workspace, whose files could
 *   shadow Python's own modules.
 * @param log told what is left out.
 * @param preferred tried right after the setting: the environment of a development checkout.
 * @throws NoPythonError when none fits. A setting that does not fit is not silently replaced.
 */
export async function findInterpreter(
  folder: string,
  log: LogOutputChannel,
  preferred?: string,
): Promise<Interpreter> {
  const attempts: string[] = [];
  const chosen = chosenInterpreter(homedir());
  const candidates = chosen === undefined ? automatic(log, preferred) : named(chosen);
  for await (const candidate of candidates) {
    try {
      return { path: candidate, version: await probe(candidate, folder) };
    } catch (error) {
      attempts.push(`${candidate} (${reason(error)})`);
    }
  }
  throw new NoPythonError(attempts);
}

/**
 * Why an interpreter cannot be used; undefined when it can.
 *
 * @param folder working directory of the probe, as for `findInterpreter`.
 */
export async function refusal(program: string, folder: string): Promise<string | undefined> {
  if (!path.isAbsolute(program)) {
    return l10n.t('not an absolute path');
  }
  return probe(program, folder).then(() => undefined, reason);
}

/** The paths to try when the setting is empty, in order. */
async function* automatic(
  log: LogOutputChannel,
  preferred: string | undefined,
): AsyncGenerator<string> {
  if (preferred !== undefined && (await isProgram(preferred))) {
    yield preferred;
  }
  const selected = await Promise.race([fromPythonExtension(), late()]).catch((error) => {
    log.warn(`The Python extension was not asked: ${reason(error)}`);
    return undefined;
  });
  if (selected !== undefined) {
    yield selected;
  }
  yield* onPath('python3', 'python');
}

/** The setting may hold a path or the name of a program on PATH. */
async function* named(chosen: string): AsyncGenerator<string> {
  if (path.isAbsolute(chosen)) {
    yield chosen;
    return;
  }
  if (chosen.includes('/') || chosen.includes('\\')) {
    throw new NoPythonError([`${chosen} (${l10n.t('not an absolute path')})`]);
  }
  let found = false;
  for await (const program of onPath(chosen)) {
    found = true;
    yield program;
  }
  if (!found) {
    throw new NoPythonError([`${chosen} (${l10n.t('not on the PATH')})`]);
  }
}

/** Programs of these names in the absolute directories of PATH. */
async function* onPath(...names: string[]): AsyncGenerator<string> {
  const endings = process.platform === 'win32' ? ['.exe'] : [''];
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute);
  for (const name of names) {
    for (const folder of folders) {
      for (const ending of endings) {
        const program = path.join(folder, name + ending);
        if (await isProgram(program)) {
          yield program;
        }
      }
    }
  }
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Asks an interpreter for its version; rejects with the reason when it cannot be used. */
async function probe(program: string, folder: string): Promise<[number, number]> {
  const { stdout } = await run(program, ['-I', '-c', PROBE], {
    cwd: folder,
    timeout: PROBE_MS,
    windowsHide: true,
  }).catch((error: ExecFileException) => {
    throw new Error(unusable(error));
  });
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    throw new Error(l10n.t('not a Python interpreter'));
  }
  const [implementation, major, minor] = answer as [string, number, number];
  if (major !== 3 || minor < OLDEST) {
    throw new Error(l10n.t('version {0} is too old', `${major}.${minor}`));
  }
  if (implementation !== 'cpython') {
    throw new Error(l10n.t('{0} is not supported, only CPython is', implementation));
  }
  return [major, minor];
}

function unusable(error: ExecFileException): string {
  if (error.killed) {
    return l10n.t('no answer for {0} seconds', PROBE_MS / 1000);
  }
  return error.code === 'ENOENT' ? l10n.t('not found') : firstLine(error.message);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

/** The part of the Python extension's interface that is used here; the extension is optional. */
interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(): { path: string };
    resolveEnvironment(
      environment: unknown,
    ): Promise<{ executable: { uri?: { fsPath: string } } } | undefined>;
  };
}

async function late(): Promise<never> {
  await setTimeout(PYTHON_EXTENSION_MS, undefined, { ref: false });
  throw new Error(`no answer for ${PYTHON_EXTENSION_MS / 1000} seconds`);
}

async function fromPythonExtension(): Promise<string | undefined> {
  const extension = extensions.getExtension<PythonExtension>('ms-python.python');
  // In a workspace that is not trusted its choice may come from the workspace.
  if (extension === undefined || !workspace.isTrusted) {
    return undefined;
  }
  const { environments } = await extension.activate();
  const resolved = await environments.resolveEnvironment(environments.getActiveEnvironmentPath());
  return resolved?.executable.uri?.fsPath;
}
