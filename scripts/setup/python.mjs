// The Python environment: finds a Python, makes .venv with it and installs this project into it.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { capture, ROOT, step, TaskError, which } from '../process.mjs';
import { fingerprint, isCurrent, writeStamp } from './stamp.mjs';

const OLDEST = 10;
const NAMES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
const PROBE =
  'import os, sys, importlib.util as u; print(sys.version_info.major, sys.version_info.minor, ' +
  'bool(u.find_spec("venv") and u.find_spec("ensurepip")), os.path.realpath(sys.executable))';

export const VENV = path.join(ROOT, '.venv');
/** Every package at one version, with hashes; `npm run lock` writes it. */
export const LOCK = path.join(ROOT, 'requirements.lock');
const BIN = path.join(VENV, process.platform === 'win32' ? 'Scripts' : 'bin');

/**
 * A program of the environment, such as `python` or `jsec`.
 * @param {string} name
 */
export function venv(name) {
  return path.join(BIN, process.platform === 'win32' ? `${name}.exe` : name);
}

/**
 * Makes or refreshes `.venv`; does nothing when it is up to date.
 * @throws {TaskError} when there is no suitable Python or an installation fails
 */
export async function setUpPython() {
  const stamp = path.join(VENV, '.jarvis-set-up');
  const key = fingerprint([ROOT], [path.join(ROOT, 'pyproject.toml'), LOCK]);
  if (isCurrent(stamp, key) && (await works(venv('python')))) return;
  await makeVenv();
  const pip = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet'];
  await step('Python packages: requirements.lock', venv('python'), [
    ...[...pip, '--require-hashes', '--requirement', LOCK],
  ]);
  await step('Python packages: Jarvis LS', venv('python'), [
    ...[...pip, '--no-deps', '--no-build-isolation', '--editable', '.'],
  ]);
  writeStamp(stamp, key);
}

/**
 * Makes `.venv`, empty yet, where there is none that works.
 * @throws {TaskError} when there is no suitable Python
 */
export async function makeVenv() {
  if (await works(venv('python'))) return;
  const python = await findPython();
  await step(`Python ${python.version}: .venv`, python.executable, [
    ...['-m', 'venv', '--clear', VENV],
  ]);
}

/**
 * Every Python of this machine that Jarvis LS runs on, the default one first.
 * @returns {Promise<{version: string, executable: string, canMakeVenv: boolean}[]>}
 */
export async function findPythons() {
  const chosen = process.env.JARVIS_PYTHON;
  const names = chosen ? [chosen] : [...NAMES, ...pyenvPythons(), '/usr/bin/python3'];
  const found = new Map();
  for (const name of names) {
    const python = await probe(name);
    if (python && !found.has(python.executable)) found.set(python.executable, python);
  }
  return [...found.values()];
}

async function findPython() {
  const pythons = await findPythons();
  const usable = pythons.find((python) => python.canMakeVenv);
  if (usable) return usable;
  const [unusable] = pythons;
  if (unusable) {
    throw new TaskError(
      `Python ${unusable.version} (${unusable.executable}) has no venv module: ` +
        'install it (Debian and Ubuntu: apt install python3-venv)',
    );
  }
  throw new TaskError(
    `Python 3.${OLDEST} or newer was not found: install it, or name it in JARVIS_PYTHON`,
  );
}

/** @param {string} name */
async function probe(name) {
  if (!path.isAbsolute(name) && !(await which(name))) return undefined;
  if (path.isAbsolute(name) && !existsSync(name)) return undefined;
  const { status, stdout } = await capture(name, ['-c', PROBE]);
  if (status !== 0) return undefined;
  const [major, minor, canMakeVenv, ...executable] = stdout.trim().split(' ');
  if (major !== '3' || Number(minor) < OLDEST) return undefined;
  return {
    version: `3.${minor}`,
    executable: executable.join(' '),
    canMakeVenv: canMakeVenv === 'True',
  };
}

/** pyenv keeps versions that are not on the PATH. */
function pyenvPythons() {
  const root = process.env.PYENV_ROOT;
  const versions = root ? path.join(root, 'versions') : '';
  if (!versions || !existsSync(versions)) return [];
  return readdirSync(versions)
    .sort()
    .reverse()
    .map((version) => path.join(versions, version, 'bin', 'python3'));
}

/** @param {string} python */
async function works(python) {
  return existsSync(python) && (await capture(python, ['-c', ''])).status === 0;
}
