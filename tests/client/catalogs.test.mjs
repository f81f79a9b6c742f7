// Both languages are complete: every text of the manifest and of the client has its translation.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const SOURCES = path.join(ROOT, 'client-vscode', 'src');
const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');
const json = (file) => JSON.parse(read(file));
const places = (text) => [...text.matchAll(/\{\d+\}/g)].map(([place]) => place).sort();

/** The first argument of every `l10n.t(…)` below client-vscode/src. */
function clientTexts() {
  const texts = new Set();
  const files = readdirSync(SOURCES, { recursive: true }).filter((name) => name.endsWith('.ts'));
  for (const name of files) {
    const text = readFileSync(path.join(SOURCES, name), 'utf8');
    const visit = (node) => {
      if (ts.isCallExpression(node) && node.expression.getText() === 'l10n.t') {
        const [first] = node.arguments;
        assert.ok(ts.isStringLiteralLike(first), `${name}: l10n.t needs a literal`);
        texts.add(first.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  }
  return [...texts].sort();
}

test('every text of the client is translated, and nothing else', () => {
  const chinese = json('l10n/bundle.l10n.zh-cn.json');
  assert.deepEqual(Object.keys(chinese).sort(), clientTexts());
});

test('a translation keeps the places of its values', () => {
  for (const [english, chinese] of Object.entries(json('l10n/bundle.l10n.zh-cn.json'))) {
    assert.deepEqual(places(chinese), places(english), english);
  }
});

test('the manifest names exactly the texts of its catalogs', () => {
  const named = new Set([...read('package.json').matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key));
  const english = Object.keys(json('package.nls.json')).sort();
  assert.deepEqual([...named].sort(), english);
  assert.deepEqual(Object.keys(json('package.nls.zh-cn.json')).sort(), english);
});

test('every command of the manifest exists in the client, and the other way round', () => {
  const sources = readdirSync(SOURCES, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(path.join(SOURCES, name), 'utf8'))
    .join('\n');
  const registered = [...sources.matchAll(/context\.command\(\s*'([^']+)'/g)].map(([, id]) => id);
  const groupings = ['Severity', 'Category', 'File', 'Rule'].map((it) => `jarvisLs.groupBy${it}`);
  const internal = [
    'acceptIssue',
    'askInChat',
    'discussIssue',
    'dismissIssue',
    'peekFindings',
    'showMore',
    'suppressHere',
  ].map((it) => `jarvisLs.${it}`);
  const contributed = json('package.json').contributes.commands.map(({ command }) => command);
  assert.deepEqual([...contributed, ...internal].sort(), [...registered, ...groupings].sort());
});

test('settings have the defaults that the server assumes', () => {
  const sections = json('package.json').contributes.configuration;
  const properties = Object.assign({}, ...sections.map((section) => section.properties));
  const protocol = read('client-vscode/src/protocol.ts');
  const [, body] = protocol.match(/DEFAULT_SETTINGS: Settings = \{([\s\S]*?)\n\};/);
  const defaults = [...body.matchAll(/^ {2}(\w+): (.+),$/gm)];
  assert.ok(defaults.length > 0);
  for (const [, name, value] of defaults) {
    assert.deepEqual(
      properties[`jarvisLs.${name}`].default,
      JSON.parse(value.replaceAll("'", '"')),
      name,
    );
  }
});

test('the pictures of the walkthrough are there in both languages, and differ', () => {
  const [english, chinese] = ['package.nls.json', 'package.nls.zh-cn.json'].map((name) => {
    const texts = json(name);
    return Object.keys(texts)
      .filter((key) => /^walkthrough\.\w+\.picture$/.test(key))
      .map((key) => read(texts[key]));
  });
  assert.equal(english.length, 6);
  assert.equal(chinese.length, 6);
  for (const [number, picture] of chinese.entries()) {
    assert.notEqual(picture, english[number]);
    assert.match(picture, /\p{Script=Han}/u);
  }
});
