// The findings view as data: what is shown, in which order, under which heading.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import * as esbuild from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
let model;

before(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-client-'));
  const outfile = path.join(folder, 'model.mjs');
  const source = path.join(ROOT, 'client-vscode/src/features/findings/model.ts');
  await esbuild.build({ entryPoints: [source], bundle: true, format: 'esm', outfile });
  model = await import(outfile);
  rmSync(folder, { recursive: true });
});

let ids = 0;
function finding(values = {}) {
  const line = values.line ?? 0;
  const severity = values.severity ?? 'high';
  return {
    id: `f${++ids}`,
    fingerprint: `p${ids}`,
    rule: 'strcpy-unbounded',
    uri: 'file:///ws/a.c',
    range: { start: { line, character: 0 }, end: { line, character: 4 } },
    severity,
    category: 'unsafe_api',
    cwe: [120],
    message: 'strcpy copies without a bound.',
    confidence: 0.9,
    score: 0.9 * { high: 3, medium: 2, low: 1 }[severity],
    suppressed: false,
    baselined: false,
    fixable: false,
    evidence: 'strcpy(a, b);',
    ...values,
  };
}

const idsOf = (findings) => findings.map(({ id }) => id);

test('worst first, then by place', () => {
  const low = finding({ severity: 'low' });
  const later = finding({ line: 9 });
  const earlier = finding({ line: 2 });
  const shown = model.visible([low, later, earlier], model.EVERYTHING);
  assert.deepEqual(idsOf(shown), idsOf([earlier, later, low]));
});

test('suppressed and baselined findings show only when asked for', () => {
  const open = finding();
  const suppressed = finding({ suppressed: true });
  const baselined = finding({ baselined: true });
  const all = [open, suppressed, baselined];
  const show = (part) => idsOf(model.visible(all, { ...model.EVERYTHING, ...part })).sort();
  assert.deepEqual(show({}), [open.id]);
  assert.deepEqual(show({ suppressed: true }), [open.id, suppressed.id].sort());
  assert.deepEqual(show({ suppressed: true, baselined: true }), idsOf(all).sort());
});

test('every word of the filter must occur somewhere in the finding', () => {
  const one = finding({ uri: 'file:///ws/src/net%20io.c' });
  const other = finding({ rule: 'double-free', cwe: [415], message: 'Freed twice.' });
  const show = (text) => idsOf(model.visible([one, other], { ...model.EVERYTHING, text }));
  assert.deepEqual(show('STRCPY src/'), [one.id]);
  assert.deepEqual(show('cwe-415'), [other.id]);
  assert.deepEqual(show('net io'), [one.id]);
  assert.deepEqual(show('strcpy twice nowhere'), []);
  assert.equal(show('   ').length, 2);
});

test('a path that is no valid escape does not break the filter', () => {
  const odd = finding({ uri: 'file:///ws/100%.c' });
  const shown = model.visible([odd], { ...model.EVERYTHING, text: '100%' });
  assert.deepEqual(idsOf(shown), [odd.id]);
});

test('groups by severity keep the order high, medium, low', () => {
  const all = [finding({ severity: 'low' }), finding({ severity: 'medium' }), finding()];
  const keys = model.grouped(all, 'severity').map(({ key }) => key);
  assert.deepEqual(keys, ['high', 'medium', 'low']);
});

test('other groups stand in the order of their worst finding, then of their size', () => {
  const all = [
    finding({ category: 'io', severity: 'medium' }),
    finding({ category: 'io', severity: 'medium' }),
    finding({ category: 'race', severity: 'medium' }),
    finding({ category: 'memory' }),
  ];
  const groups = model.grouped(all, 'category');
  assert.deepEqual(
    groups.map(({ key, findings }) => [key, findings.length]),
    [
      ['memory', 1],
      ['io', 2],
      ['race', 1],
    ],
  );
});

test('below a file the findings follow the lines', () => {
  const all = [finding({ line: 9 }), finding({ line: 1, severity: 'low' })];
  const [group] = model.grouped(model.visible(all, model.EVERYTHING), 'file');
  assert.deepEqual(
    group.findings.map(({ range }) => range.start.line),
    [1, 9],
  );
});

test('changes replace a file, and older ones are ignored', () => {
  const findings = new model.FindingsModel((/** @type {string} */ uri) => uri);
  const a = finding();
  const b = finding({ uri: 'file:///ws/b.c' });
  findings.reset({ revision: 5, findings: [a, b] });
  assert.equal(findings.apply({ revision: 5, files: [{ uri: a.uri, findings: [] }] }), false);
  assert.equal(findings.open.length, 2);
  assert.equal(findings.apply({ revision: 6, files: [{ uri: a.uri, findings: [] }] }), true);
  assert.deepEqual(idsOf(findings.open), [b.id]);
  findings.reset({ revision: 1, findings: [a] });
  assert.deepEqual(idsOf(findings.all), [a.id]);
});

test('one file written in two ways is one file', () => {
  const findings = new model.FindingsModel((/** @type {string} */ uri) => decodeURIComponent(uri));
  const known = finding({ uri: 'file:///ws/a+b.c' });
  findings.reset({ revision: 1, findings: [known] });
  const again = finding({ uri: 'file:///ws/a%2Bb.c' });
  findings.apply({ revision: 2, files: [{ uri: again.uri, findings: [again] }] });
  assert.deepEqual(idsOf(findings.all), [again.id]);
});

test('ten thousand findings are filtered and grouped within a second of work', () => {
  const all = Array.from({ length: 10_000 }, (_, line) =>
    finding({ line, uri: `file:///ws/${line % 300}.c`, severity: line % 2 ? 'high' : 'low' }),
  );
  const began = process.cpuUsage();
  const shown = model.visible(all, { ...model.EVERYTHING, text: 'strcpy cwe-120' });
  const groups = model.grouped(shown, 'file');
  const { user, system } = process.cpuUsage(began);
  assert.equal(groups.length, 300);
  assert.ok(user + system < 1e6, `${(user + system) / 1000} ms`);
});
