// What is built from the same sources in two folders is the same, byte for byte; and what is bundled
// is named with its licence, or nothing is built.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { capture, ROOT } from '../../scripts/process.mjs';
import { venv } from '../../scripts/setup/python.mjs';
import { Stamp } from '../support/stamps.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-reproducible-'));
const libraries = path.join(folder, 'libraries');
/** Builds the wheel, the client and the extension of the folder it runs in; no machine code. */
const BUILD = `
  const { buildWheel } = await import('./scripts/package/wheel.mjs');
  const { buildClient } = await import('./scripts/setup/client.mjs');
  const { buildExtension } = await import('./scripts/package/extension.mjs');
  const { mkdirSync } = await import('node:fs');
  mkdirSync('dist', { recursive: true });
  await buildWheel(process.cwd() + '/dist', false);
  await buildClient();
  await buildExtension('linux-x64', process.argv[1], process.cwd() + '/dist');
`;

/** What packs, what it is told, and which files there are to be packed: not what they say. */
const stamp = new Stamp(import.meta.url, {
  contents: [
    ...['scripts/package', 'scripts/setup', 'scripts/process.mjs', 'pyproject.toml'],
    ...[
      'requirements.lock',
      'package.json',
      'package-lock.json',
      'bundled',
      'server/sbom.cdx.json',
    ],
  ],
  names: ['server/jarvis_ls', 'client-vscode', 'l10n', 'media'],
});

before(() => {
  if (stamp.unchanged) return;
  lay(
    'common/attrs-26.1.0.dist-info/METADATA',
    'Name: attrs\nVersion: 26.1.0\nLicense-Expression: MIT\n',
  );
  for (const name of ['one', 'other/deeper']) copyTo(path.join(folder, name));
});
after(() => rmSync(folder, { recursive: true, force: true }));

stamp.test('wheel and extension of two folders are equal, byte for byte', async () => {
  const built = [];
  for (const [name, zone, umask] of [
    ['one', 'Asia/Tokyo', '022'],
    ['other/deeper', 'America/Lima', '077'],
  ]) {
    const { status, stderr } = await build(name, { TZ: zone }, umask);
    assert.equal(status, 0, stderr);
    const dist = path.join(folder, name, 'dist');
    const files = readdirSync(dist).filter((file) => /\.(whl|vsix|cdx\.json)$/.test(file));
    assert.deepEqual(files.map((file) => path.extname(file)).sort(), ['.json', '.vsix', '.whl']);
    built.push(files.map((file) => [file, readFileSync(path.join(dist, file)).toString('base64')]));
  }
  assert.ok(JSON.stringify(built[0]) === JSON.stringify(built[1]), 'they differ');
});

stamp.test('the SBOM of the extension names what is bundled', () => {
  const stage = path.join(folder, 'one', 'dist', 'extension', 'linux-x64');
  const bill = JSON.parse(readFileSync(path.join(stage, 'sbom.cdx.json'), 'utf8'));
  assert.equal(bill.bomFormat, 'CycloneDX');
  const names = bill.components.map((part) => part.purl);
  assert.ok(names.includes('pkg:pypi/attrs@26.1.0'), names.join(' '));
  assert.ok(
    names.some((name) => name.startsWith('pkg:npm/lit@')),
    names.join(' '),
  );
});

stamp.test('the SBOM lies beside the extension, and that of the wheel is in it', async () => {
  const dist = path.join(folder, 'one', 'dist');
  const files = readdirSync(dist);
  const beside = files.find((file) => file.endsWith('.cdx.json')) ?? '';
  assert.deepEqual(
    readFileSync(path.join(dist, beside)),
    readFileSync(path.join(dist, 'extension', 'linux-x64', 'sbom.cdx.json')),
  );
  const wheel = files.find((file) => file.endsWith('.whl')) ?? '';
  const read =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]);' +
    ' print(*(z.read(n).decode() for n in z.namelist() if "/sboms/" in n))';
  const { stdout } = await capture(venv('python'), ['-c', read, path.join(dist, wheel)]);
  const bill = JSON.parse(stdout);
  assert.equal(bill.metadata.component.name, 'jarvis-ls');
  const scopes = Object.fromEntries(bill.components.map((part) => [part.name, part.scope]));
  assert.equal(scopes.pygls, 'required');
  assert.equal(scopes.openai, 'optional');
  assert.equal(scopes.pytest, undefined);
});

stamp.test('nothing is packed whose licence is unknown', async () => {
  lay('common/odd-1.dist-info/METADATA', 'Name: odd\nVersion: 1\nLicense: Ask me\n');
  const { status, stdout, stderr } = await build('one', {}, '022');
  assert.notEqual(status, 0);
  assert.match(stdout + stderr, /odd 1: its licence is unknown: 'Ask me'/);
});

/**
 * Runs the build in a copy.
 * @param {string} name
 * @param {Record<string, string>} env
 * @param {string} umask
 */
function build(name, env, umask) {
  const script = `umask ${umask}; exec "$0" --input-type=module -e "$1" "$2"`;
  return capture('sh', ['-c', script, process.execPath, BUILD, libraries], {
    cwd: path.join(folder, name),
    env: { ...process.env, ...env },
  });
}

/** Lays the files that git knows, or would take, into a folder, beside what is installed here. */
function copyTo(/** @type {string} */ place) {
  const known = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', known, { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const wanted = /^(server|scripts|client-vscode|l10n|media|bundled|[^/]+$)/;
  for (const file of files.filter((name) => wanted.test(name) && name !== '')) {
    cpSync(path.join(ROOT, file), path.join(place, file), { recursive: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(place, 'node_modules'));
  symlinkSync(path.dirname(path.dirname(venv('python'))), path.join(place, '.venv'));
}

function lay(/** @type {string} */ name, /** @type {string} */ text) {
  const file = path.join(libraries, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
