// Real programs to measure on: the sources of Debian packages, as their authors published them.
// apt fetches and verifies them by a list of its own, derived from the machine's entries for binary
// packages; nothing of the machine's settings is changed and no root is needed.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { capture, ROOT, step, TaskError, which } from '../process.mjs';
import { venv } from '../setup/python.mjs';

/** Where the sources lie, a folder for each package. */
export const SOURCES = path.join(ROOT, '.cache', 'sources');

/** The tree that `jsec scan` is measured on. */
export const PACKAGES = ['bzip2', 'zlib', 'libpng1.6', 'sqlite3'];

const APT = path.join(SOURCES, '.apt');

/**
 * Fetches what is missing of the packages; does nothing when all are there. A Rust crate is named
 * by the binary package that holds its sources, `librust-NAME-dev`.
 * @param {string[]} [more] packages besides those that `jsec scan` is measured on
 * @throws {TaskError} when there is no apt, or it offers none of a package's sources
 */
export async function fetchSources(more = []) {
  const wanted = [...PACKAGES, ...more];
  const missing = wanted.filter((name) => !existsSync(path.join(SOURCES, name)));
  if (missing.length === 0) return;
  if (!(await which('apt-get'))) {
    throw new TaskError('the sources to measure on come by apt: run the benchmarks on Debian');
  }
  const options = privateApt(missing.some(isCrate));
  await step('Sources: list of packages', 'apt-get', [...options, '--quiet', 'update']);
  for (const name of missing) {
    if (isCrate(name)) await fetchCrate(options, name);
    else await fetchPackage(options, name);
  }
}

/** @param {string} name of a package */
function isCrate(name) {
  return name.startsWith('librust-');
}

/**
 * A state of apt of its own.
 * @param {boolean} binary whether binary packages are wanted, too
 * @returns {string[]} the options that make apt use it
 */
function privateApt(binary) {
  rmSync(APT, { recursive: true, force: true });
  for (const folder of ['lists/partial', 'cache/archives/partial', 'sources.list.d']) {
    mkdirSync(path.join(APT, folder), { recursive: true });
  }
  const { stanzas, lines } = sourceEntries('/etc/apt');
  if (binary) {
    stanzas.push(...stanzas.map((stanza) => stanza.replace('Types: deb-src', 'Types: deb')));
    lines.push(...lines.map((line) => line.replace('deb-src ', 'deb ')));
  }
  writeFileSync(path.join(APT, 'sources.list'), `${lines.join('\n')}\n`);
  writeFileSync(path.join(APT, 'sources.list.d', 'all.sources'), `${stanzas.join('\n\n')}\n`);
  const settings = {
    'Dir::Etc::SourceList': path.join(APT, 'sources.list'),
    'Dir::Etc::SourceParts': path.join(APT, 'sources.list.d'),
    'Dir::State::Lists': path.join(APT, 'lists'),
    'Dir::Cache': path.join(APT, 'cache'),
    'APT::Sandbox::User': '',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/**
 * The entries for binary packages of this release, as entries for their sources.
 * @param {string} folder
 */
function sourceEntries(folder) {
  const parts = path.join(folder, 'sources.list.d');
  const names = existsSync(parts) ? readdirSync(parts).map((name) => path.join(parts, name)) : [];
  const files = [path.join(folder, 'sources.list'), ...names].filter((name) => existsSync(name));
  const read = (/** @type {string} */ ending) =>
    files.filter((name) => name.endsWith(ending)).map((name) => readFileSync(name, 'utf8'));
  return {
    stanzas: read('.sources').flatMap((text) => sourceStanzas(text, codename())),
    lines: read('.list').flatMap((text) => sourceLines(text, codename())),
  };
}

/**
 * @param {string} text of a file in apt's deb822 format
 * @param {string} release its code name, such as `bookworm`
 * @returns {string[]}
 */
export function sourceStanzas(text, release) {
  return text
    .split(/\n[ \t]*\n/)
    .map((stanza) => stanza.replace(/^#.*\n?/gm, '').trim())
    .filter((stanza) => /^Types:.*\bdeb(?!-)/im.test(stanza) && !/^Enabled:\s*no/im.test(stanza))
    .filter((stanza) => field(stanza, 'Suites').some((suite) => suite.startsWith(release)))
    .map((stanza) => stanza.replace(/^Types:.*/im, 'Types: deb-src'));
}

/**
 * @param {string} text of a file in apt's one-line format
 * @param {string} release
 * @returns {string[]}
 */
export function sourceLines(text, release) {
  return text
    .split('\n')
    .map((line) => /^\s*deb\s+((?:\[[^\]]*\]\s+)?\S+\s+(\S+)\s.*)$/.exec(line))
    .flatMap((match) => (match?.[2]?.startsWith(release) ? [`deb-src ${match[1]}`] : []));
}

/**
 * @param {string} stanza
 * @param {string} name
 */
function field(stanza, name) {
  const match = new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, 'im').exec(stanza);
  return match?.[1]?.trim().split(/\s+/) ?? [];
}

function codename() {
  const text = readFileSync('/etc/os-release', 'utf8');
  const name = /^VERSION_CODENAME="?([\w-]+)/m.exec(text)?.[1];
  if (!name) throw new TaskError('/etc/os-release names no release');
  return name;
}

/**
 * Tries the versions that are offered, newest first: a mirror may list one that it does not hold.
 * @param {string[]} options
 * @param {string} name
 */
async function fetchPackage(options, name) {
  const downloads = path.join(APT, 'downloads', name);
  mkdirSync(downloads, { recursive: true });
  const failures = [];
  for (const version of await offeredVersions(options, name)) {
    const { status, stderr } = await capture(
      'apt-get',
      [...options, '--quiet', 'source', '--download-only', `${name}=${version}`],
      { cwd: downloads },
    );
    if (status === 0) return unpack(name, version, downloads);
    failures.push(`${version}: ${stderr.trim()}`);
  }
  throw new TaskError(
    `no sources of ${name} can be fetched: ${failures.join('; ') || 'not listed'}`,
  );
}

/**
 * @param {string[]} options
 * @param {string} name of a binary package with the sources of a crate
 */
async function fetchCrate(options, name) {
  const downloads = path.join(APT, 'downloads', name);
  mkdirSync(downloads, { recursive: true });
  await step(`Sources: ${name}`, 'apt-get', [...options, '--quiet', 'download', name], {
    cwd: downloads,
  });
  const archive = readdirSync(downloads).find((file) => file.endsWith('.deb'));
  const folder = path.join(APT, 'unpacked', name);
  mkdirSync(path.dirname(folder), { recursive: true });
  await step(`Sources: unpack ${name}`, 'dpkg-deb', [
    ...['--extract', path.join(downloads, archive ?? ''), folder],
  ]);
  const crates = path.join(folder, 'usr', 'share', 'cargo', 'registry');
  const [content] = readdirSync(crates);
  renameSync(path.join(crates, content ?? ''), path.join(SOURCES, name));
}

/**
 * @param {string[]} options
 * @param {string} name
 */
async function offeredVersions(options, name) {
  const { stdout } = await capture('apt-cache', [...options, 'showsrc', '--only-source', name]);
  const versions = [...stdout.matchAll(/^Version: (.*)$/gm)].map((match) => match[1] ?? '');
  return [...new Set(versions)].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
}

/**
 * Python reads every kind of archive, whatever tools the machine has. Debian's patches are left out,
 * so that line numbers are those of the authors.
 * @param {string} name
 * @param {string} version
 * @param {string} downloads
 */
async function unpack(name, version, downloads) {
  const archive = readdirSync(downloads).find((file) => /\.orig\.tar\.\w+$/.test(file));
  if (!archive) throw new TaskError(`${name}: the package has no original sources`);
  const folder = path.join(APT, 'unpacked', name);
  mkdirSync(folder, { recursive: true });
  await step(`Sources: ${name} ${version}`, venv('python'), [
    ...['-m', 'tarfile', '--extract', path.join(downloads, archive), folder],
  ]);
  const [content] = readdirSync(folder);
  renameSync(path.join(folder, content ?? ''), path.join(SOURCES, name));
}
