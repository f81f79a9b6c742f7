import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceLines, sourceStanzas } from '../../scripts/bench/debian-sources.mjs';

const MIRROR = 'http://mirror.invalid/debian';

test('entries for packages become entries for their sources', () => {
  const text = `# made by the installer
Types: deb
URIs: ${MIRROR}
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb-src
URIs: ${MIRROR}
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: ${MIRROR}
Suites: bookworm-backports
Components: main

Types: deb
URIs: http://other.invalid
Suites: stable
Components: main
`;
  assert.deepEqual(sourceStanzas(text, 'bookworm'), [
    [
      'Types: deb-src',
      `URIs: ${MIRROR}`,
      'Suites: bookworm bookworm-updates',
      'Components: main',
      'Signed-By: /usr/share/keyrings/debian.gpg',
    ].join('\n'),
  ]);
});

test('so do entries of one line', () => {
  const text = `# deb ${MIRROR} bookworm main
deb [signed-by=/a.gpg arch=amd64] ${MIRROR} bookworm main contrib
deb-src ${MIRROR} bookworm main
deb ${MIRROR} bookworm-security main
deb http://other.invalid stable main
`;
  assert.deepEqual(sourceLines(text, 'bookworm'), [
    `deb-src [signed-by=/a.gpg arch=amd64] ${MIRROR} bookworm main contrib`,
    `deb-src ${MIRROR} bookworm-security main`,
  ]);
});
