// The modules of the client and of its pages form no circle of imports, imports of types included.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const CLIENT = path.resolve(import.meta.dirname, '..', '..', 'client-vscode');
const SOURCES = ['src', 'webview'].flatMap((folder) =>
  readdirSync(path.join(CLIENT, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(CLIENT, folder, name)),
);

/** The modules of ours that a file imports. */
function imports(file) {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => `${path.resolve(path.dirname(file), fileName)}.ts`);
}

/** The first circle of imports, as paths; empty when there is none. */
function circle(graph) {
  const done = new Set();
  const visit = (file, above) => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...above, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const found = visit(file, []);
    if (found.length > 0) return found.map((it) => path.relative(CLIENT, it));
  }
  return [];
}

test('no circle of imports', () => {
  const graph = new Map(SOURCES.map((file) => [file, imports(file)]));
  assert.ok([...graph.values()].flat().length > 100);
  assert.deepEqual(circle(graph), []);
});

test('a circle would be found', () => {
  const graph = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['c.ts', 'd.ts']],
    ['d.ts', ['b.ts']],
  ]);
  assert.equal(circle(graph).length, 3);
});
