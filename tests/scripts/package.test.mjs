import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { hostTarget } from '../../scripts/package/libraries.mjs';
import { capture, ROOT } from '../../scripts/process.mjs';
import { findPythons, venv } from '../../scripts/setup/python.mjs';
import { startModel } from '../e2e/model.mjs';
import { Panel } from '../e2e/panel.mjs';
import { openWorkbench, TOOLCHAIN } from '../e2e/workbench.mjs';
import { Stamp } from '../support/stamps.mjs';
import { startServer } from './language-client.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'jarvis-package-'));
const project = path.join(folder, 'project');
const extension = path.join(folder, 'vsix', 'extension');
const pythons = await findPythons();
let output = '';
const stamp = new Stamp(import.meta.url, {
  contents: [
    ...['scripts/package', 'scripts/package.mjs', 'scripts/setup', 'scripts/process.mjs'],
    ...['pyproject.toml', 'requirements.lock', 'package.json', 'package-lock.json', 'bundled'],
  ],
  names: ['server/jarvis_ls', 'client-vscode', 'l10n', 'media'],
});

before(async () => {
  if (!stamp.unchanged) await build();
});
after(() => rmSync(folder, { recursive: true, force: true }));

stamp.test('the wheel works in a clean environment', async () => {
  const environment = path.join(folder, 'environment');
  const bin = path.join(environment, process.platform === 'win32' ? 'Scripts' : 'bin');
  const env = cleanEnvironment();
  const python = path.join(bin, 'python');
  for (const [command, ...args] of [
    [pythons[0].executable, '-m', 'venv', '--without-pip', environment],
    // Our own pip installs into it: to lay one out in there would take longer than all the rest.
    [venv('python'), '-m', 'pip', '--python', python, 'install', '--quiet', artefact(/-any\.whl$/)],
  ]) {
    const { status, stderr } = await capture(command, args, { env: process.env });
    assert.equal(status, 0, stderr);
  }
  const scan = ['scan', project, '--format', 'json', '--no-cache'];
  const { status, stdout, stderr } = await capture(path.join(bin, 'jsec'), scan, {
    cwd: folder,
    env,
  });
  assert.equal(status, 0, stderr);
  const { issues } = JSON.parse(stdout);
  assert.ok(issues.some((issue) => issue.rule === 'use-after-free'));

  const fatal = await capture(path.join(bin, 'jsec'), [...scan, '--fail-on', 'high'], { env });
  assert.equal(fatal.status, 1);
});

for (const [index, { version, executable }] of pythons.entries()) {
  const which = `Python ${version} (${index + 1} of ${pythons.length} here)`;
  stamp.test(`the extension's server works on ${which} with nothing installed`, async () => {
    const file = path.join(project, 'src', 'store.c');
    const server = startServer(
      executable,
      ['-I', '-S', path.join(extension, 'bundled', 'tool', 'server.py')],
      { cwd: folder, env: cleanEnvironment() },
    );
    try {
      const { capabilities } = await server.request('initialize', {
        processId: process.pid,
        rootUri: pathToFileURL(project).href,
        capabilities: {},
      });
      assert.ok(capabilities.codeActionProvider);
      server.notify('initialized', {});
      const uri = pathToFileURL(file).href;
      server.notify('textDocument/didOpen', {
        textDocument: { uri, languageId: 'c', version: 1, text: readFileSync(file, 'utf8') },
      });
      const { params } = await server.waitFor(
        ({ method, params: published }) =>
          method === 'textDocument/publishDiagnostics' &&
          published.uri === uri &&
          published.diagnostics.length > 0,
      );
      const codes = params.diagnostics.map(({ code }) => code?.value ?? code);
      assert.ok(codes.includes('use-after-free'), codes.join(', '));
      await server.request('shutdown', null);
      server.notify('exit');
      assert.deepEqual(await server.ended, [0, null]);
    } finally {
      server.kill();
    }
  });
}

stamp.test(
  'installed in VS Code, C is moved to Rust and compared with it, with its own libraries',
  async () => {
    const editor = await openWorkbench({
      vsix: artefact(/\.vsix$/),
      files: {
        Makefile: 'prog: sums.c\n\t$(CC) -o $@ $<\n',
        'sums.c': 'int sum(int n)\n{\n    return n ? n + sum(n - 1) : 0;\n}\n',
      },
      env: TOOLCHAIN,
    });
    try {
      await editor.serverStarted();
      await editor.command('Jarvis: Translate Project to Rust (Convert, Transpile)');
      await editor.toast('1 of 1 functions are in Rust, and the crate builds').waitFor();
      await editor.command('Jarvis: Verify Rust against C');
      await editor.toast('1 of 1 functions were verified and behave like the C').waitFor();
    } finally {
      await editor.close();
    }
  },
);

for (const { version, executable } of pythons.filter(hasAgents).filter(isFirstOfItsVersion)) {
  stamp.test(`what agents need is there for Python ${version} with nothing installed`, async () => {
    const names = [
      ...['openai', 'anthropic', 'mcp', 'pydantic', 'yaml', 'pyjson5', 'filelock', 'jsonschema'],
      ...['tree_sitter_bash', 'docker', 'prompt_toolkit', 'jarvis_ls.lsp.panel.bridge'],
    ];
    const told = await inExtension(
      executable,
      `import ${names.join(', ')}; print(openai.__file__)`,
    );
    assert.ok(told.startsWith(path.join(extension, 'bundled', 'libs')), told);
  });
}

for (const { version, executable } of pythons.filter(isFirstOfItsVersion)) {
  stamp.test(
    `what moving C to Rust needs is there for Python ${version} with nothing installed`,
    async () => {
      const told = await inExtension(
        executable,
        'import hypothesis, tree_sitter_bash\nfrom jarvis_ls.codeintel import clang\n' +
          'print(clang.cindex().conf.lib._name)',
      );
      assert.ok(told.startsWith(path.join(extension, 'bundled', 'libs')), told);
    },
  );
}

stamp.test(
  'installed in VS Code, it reports and fixes, and an agent answers, with its own libraries',
  async () => {
    const text =
      '#include <string.h>\n\nvoid keep(char *line) {\n  char kept[8];\n  strcpy(kept, line);\n}\n';
    const model = await startModel();
    const jarvis = path.join(folder, 'jarvis-home');
    model.configure(jarvis);
    const editor = await openWorkbench({
      vsix: artefact(/\.vsix$/),
      files: { 'keep.c': text },
      env: { JARVIS_HOME: jarvis },
    });
    try {
      await editor.open('keep.c');
      const pid = await editor.serverStarted();
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      assert.ok(
        command.some((part) => part.startsWith(path.join(editor.base, 'extensions'))),
        command,
      );
      await editor.squiggles.first().waitFor();
      await editor.goTo(5, 5);
      await editor.quickFix(/Limit the copy to the size of/);
      await editor.squigglesBecome(0);
      await editor.save();
      assert.match(editor.read('keep.c'), /snprintf\(kept/);

      const panel = await Panel.open(editor);
      await model.script({ say: 'From the package.' });
      await panel.say('Hello');
      await panel.answered('From the package.');
    } finally {
      await editor.close();
      await model.close();
    }
  },
);

stamp.test('the extension holds what it needs and nothing else', () => {
  const files = readdirSync(path.join(folder, 'vsix'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('__pycache__'))
    .map((file) => path.relative(path.join(folder, 'vsix'), file).replaceAll(path.sep, '/'));
  const expected =
    /^(\[Content_Types\]\.xml|extension\.vsixmanifest|extension\/(package(\.nls(\..+)?)?\.json|readme\.md|changelog\.md|LICENSE\.txt|THIRD-PARTY-LICENSES\.md|sbom\.cdx\.json|l10n\/.+\.json|media\/.+|client-vscode\/out\/(extension\.js|webview\/((?:panel|migration)\.(js|css)|codicon\.(css|ttf)))|bundled\/tool\/server\.py|bundled\/libs\/(common|cp3\d\d)\/.+))$/i;
  assert.deepEqual(
    files.filter((file) => !expected.test(file)),
    [],
  );
  assert.deepEqual(
    files.filter(
      (file) =>
        /\/(RECORD|INSTALLER|direct_url\.json|tests?)$|\.(pyc|map|ts|c|h)$/.test(file) &&
        !/\/jarvis_ls\/(harness|jsec\/proof|jc2r\/equivalence)\/\w+\.c$/.test(file),
    ),
    [],
  );
  const flow =
    /^extension\/bundled\/libs\/common\/jarvis_ls\/jsec\/flow\/interp\/fixpoint\.(py|.+\.(so|pyd))$/;
  assert.equal(
    files.filter((file) => flow.test(file)).length,
    2,
    'machine code and the Python of it',
  );
  for (const library of ['pygls', 'tree_sitter_c', 'openai', 'mcp', 'jarvis_ls', 'tomli']) {
    assert.ok(files.includes(`extension/bundled/libs/common/${library}/__init__.py`), library);
  }
  const licences = files.filter((file) => /dist-info\/.*licen[cs]e/i.test(file));
  assert.ok(licences.some((file) => file.includes('pygls')));
});

stamp.test("the extension's manifest has no part of the checkout", () => {
  const manifest = JSON.parse(readFileSync(path.join(extension, 'package.json'), 'utf8'));
  assert.equal(manifest.name, 'jarvis-ls');
  for (const key of ['scripts', 'devDependencies', 'private']) assert.ok(!(key in manifest), key);
  const text = readFileSync(path.join(folder, 'vsix', 'extension.vsixmanifest'), 'utf8');
  assert.match(text, new RegExp(`TargetPlatform="${hostTarget()}"`));
});

test('a platform without libraries is refused in one line', async () => {
  const { status, stderr } = await capture(process.execPath, [
    ...['scripts/package.mjs', '--target', 'alpine-x64'],
  ]);
  assert.equal(status, 1);
  assert.match(stderr, /^error: alpine-x64: there are no compiled libraries[^\n]*\n$/);
});

/** What Python code prints that finds nothing but the libraries of the extension. */
async function inExtension(python, code) {
  const server = JSON.stringify(path.join(extension, 'bundled', 'tool', 'server.py'));
  const begin = `import runpy; runpy.run_path(${server}, run_name='libraries')`;
  const { status, stdout, stderr } = await capture(
    python,
    ['-I', '-S', '-c', `${begin}\n${code}`],
    { cwd: folder, env: cleanEnvironment() },
  );
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Each version has libraries of its own, whatever program runs it. */
function isFirstOfItsVersion({ version }, index, all) {
  return all.findIndex((one) => one.version === version) === index;
}

/** Whether the extension brings agents for a Python. */
function hasAgents({ version }) {
  const [major, minor] = version.split('.').map(Number);
  return major > 3 || minor >= 11;
}

/** @param {RegExp} name */
function artefact(name) {
  const lines = output.split('\n').map((line) => line.trim());
  const found = lines.find((line) => line.startsWith('dist') && name.test(line));
  assert.ok(found, output);
  return path.join(ROOT, found);
}

/** What a user's machine has: no settings of this session, another home. */
function cleanEnvironment() {
  const home = path.join(folder, 'home');
  return {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    PYENV_ROOT: process.env.PYENV_ROOT,
  };
}

/** The package of this checkout, and the extension unpacked. */
async function build() {
  const built = await capture(process.execPath, ['scripts/package.mjs']);
  assert.equal(built.status, 0, built.stderr);
  output = built.stdout;
  cpSync(path.join(ROOT, 'tests', 'workspaces', 'inventory'), project, { recursive: true });
  mkdirSync(path.join(folder, 'home'));
  const vsix = artefact(/\.vsix$/);
  const unpacked = await capture(venv('python'), [
    ...['-m', 'zipfile', '-e', vsix, path.join(folder, 'vsix')],
  ]);
  assert.equal(unpacked.status, 0, unpacked.stderr);
}
