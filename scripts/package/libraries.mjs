// The Python libraries inside the extension. What is pure Python, or compiled against Python's
// stable interface (the grammars), lies in `common/` once; what is compiled for one CPython
// (tree-sitter's core, google-re2) lies in `cp310/`, `cp311/`, …; bundled/tool/server.py picks the
// right one. All have the versions and hashes of requirements.lock: those the tests ran with. What the
// panel's agents and moving C to Rust need is among them: installing it later would need a network,
// pip in an interpreter that is the user's own, and an answer to a question that nobody can judge.

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture, ROOT, step, TaskError } from '../process.mjs';
import { venv } from '../setup/python.mjs';

const PYTHONS = ['3.10', '3.11', '3.12', '3.13', '3.14'];
/** What the panel's agents need runs on Python 3.11 and newer only: older ones are told so. */
const AGENTS = PYTHONS.slice(1);

/**
 * VS Code's name of a platform, Python's words for it, and the wheel tags that run on it. Alpine is
 * not among them: google-re2 has no wheels for it.
 * @type {Record<string, {platform: string, machine: string, tags: string[]}>}
 */
const TARGETS = {
  'linux-x64': {
    platform: 'linux',
    machine: 'x86_64',
    tags: [
      ...['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64'],
      'manylinux2010_x86_64',
    ],
  },
  'linux-arm64': {
    platform: 'linux',
    machine: 'aarch64',
    tags: ['manylinux_2_28_aarch64', 'manylinux_2_17_aarch64', 'manylinux2014_aarch64'],
  },
  'darwin-x64': {
    platform: 'darwin',
    machine: 'x86_64',
    tags: ['macosx_13_0_x86_64', 'macosx_11_0_x86_64', 'macosx_10_9_x86_64'],
  },
  'darwin-arm64': {
    platform: 'darwin',
    machine: 'arm64',
    tags: ['macosx_13_0_arm64', 'macosx_11_0_arm64'],
  },
  'win32-x64': { platform: 'win32', machine: 'AMD64', tags: ['win_amd64'] },
};

/** VS Code's name of the platform this runs on. */
export function hostTarget() {
  return `${process.platform}-${process.arch}`;
}

/**
 * @param {string} name VS Code's name of a platform
 * @throws {TaskError} when there are no compiled libraries for it
 */
export function findTarget(name) {
  const target = TARGETS[name];
  if (target) return { name, ...target };
  const names = Object.keys(TARGETS).join(', ');
  throw new TaskError(`${name}: there are no compiled libraries for it; use one of ${names}`);
}

/** @typedef {ReturnType<typeof findTarget>} Target */

/**
 * Lays the libraries for a platform into a folder.
 * @param {Target} target
 * @param {string} wheel of this project; goes to `common/`
 * @param {string} folder emptied first
 * @throws {TaskError} when a library has no wheel for the platform or one of the Pythons
 */
export async function bundleLibraries(target, wheel, folder) {
  rmSync(folder, { recursive: true, force: true });
  /** @type {Set<string>} requirements that one wheel meets for every Python */
  const met = new Set();
  for (const python of PYTHONS) {
    const version = `cp${python.replace('.', '')}`;
    const needs = (await requirements(target, python)).filter(
      (need) => !met.has(/** @type {string} */ (need.split(' ')[0])),
    );
    for (const file of await download(target, python, needs)) {
      if ((await unpack(file, folder, version)) === 'common') met.add(pinned(file));
    }
  }
  await unpack(wheel, folder, 'common');
  dropBookkeeping(folder);
}

/**
 * What is needed for a Python, as lines of requirements.lock: `name==version` and hashes.
 * @param {Target} target
 * @param {string} python
 */
async function requirements({ platform, machine }, python) {
  const closure = path.join(import.meta.dirname, 'closure.py');
  const extras = AGENTS.includes(python) ? 'agent,migrate' : 'migrate';
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, 'scripts') };
  const args = [closure, python, platform, machine, extras];
  const needs = await capture(venv('python'), args, { env });
  if (needs.status !== 0) throw new TaskError(`requirements: ${needs.stderr}`);
  return needs.stdout.trim().split('\n');
}

/** The requirement that a wheel meets: `name==version`, the name as package indexes write it. */
function pinned(/** @type {string} */ wheel) {
  const [distribution, release] = path.basename(wheel).split('-');
  return `${distribution?.toLowerCase().replace(/[-_.]+/g, '-')}==${release}`;
}

/**
 * @param {Target} target
 * @param {string} python
 * @param {string[]} needs requirements
 * @returns {Promise<string[]>} wheels
 */
async function download({ name, tags }, python, needs) {
  const folder = path.join(ROOT, '.cache', 'wheels', name, python);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const wanted = path.join(folder, 'needs.txt');
  writeFileSync(wanted, `${needs.join('\n')}\n`);
  await step(`Libraries for ${name}, Python ${python}`, venv('python'), [
    ...['-m', 'pip', '--disable-pip-version-check', 'download', '--quiet', '--dest', folder],
    ...['--only-binary=:all:', '--no-deps', '--implementation', 'cp', '--python-version', python],
    ...tags.flatMap((tag) => ['--platform', tag]),
    ...['--require-hashes', '--requirement', wanted],
  ]);
  rmSync(wanted);
  return readdirSync(folder).map((file) => path.join(folder, file));
}

/**
 * A wheel is an archive that is laid out as it is imported, but for what some lay into `.data/platlib`.
 * @param {string} wheel
 * @param {string} folder
 * @param {string} version folder for what is compiled for one Python
 * @returns {Promise<string>} the folder it lies in: that one, or `common`
 */
async function unpack(wheel, folder, version) {
  const name = path.basename(wheel, '.whl');
  const [, abi] = name.split('-').slice(-3);
  const within = abi === 'none' || abi === 'abi3' ? 'common' : version;
  const place = path.join(folder, within);
  const [distribution, release] = name.split('-');
  mkdirSync(place, { recursive: true });
  if (existsSync(path.join(place, `${distribution}-${release}.dist-info`))) return within;
  const { status, stderr } = await capture(venv('python'), ['-m', 'zipfile', '-e', wheel, place]);
  if (status !== 0) throw new TaskError(`${name}: cannot be unpacked: ${stderr}`);
  for (const data of readdirSync(place).filter((entry) => entry.endsWith('.data'))) {
    for (const kind of readdirSync(path.join(place, data))) {
      // Programs of a package are of no use here, nor are its manual pages and completions; what
      // else there may be would have to be installed.
      if (kind === 'scripts' || (kind === 'data' && isShared(path.join(place, data, kind))))
        continue;
      if (!['platlib', 'purelib'].includes(kind)) {
        throw new TaskError(`${name}: has files that must be installed, not only unpacked`);
      }
      cpSync(path.join(place, data, kind), place, { recursive: true });
    }
    rmSync(path.join(place, data), { recursive: true });
  }
  return within;
}

/**
 * @param {string} folder
 * @returns {boolean} whether all in it is for `share`, which shells and `man` read
 */
function isShared(folder) {
  return readdirSync(folder).every((entry) => entry === 'share');
}

/**
 * Of a package's records only its name, version and licence are of use here, and of what it was
 * compiled from nothing: but what C of ours is there is compiled on the user's machine.
 * @param {string} folder
 */
function dropBookkeeping(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const isRecord =
      /\.dist-info$/.test(entry.parentPath) &&
      !/^METADATA$|licen[cs]e|notice|copying|authors/i.test(entry.name);
    const isOurs = path.relative(folder, file).split(path.sep)[1] === 'jarvis_ls';
    const isSource = /\.(c|cc|h|pyc|pyx)$/.test(entry.name) && !isOurs;
    if (entry.isFile() && (isRecord || isSource)) rmSync(file);
  }
}
