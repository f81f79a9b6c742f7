// Runs inside the editor's extension host, beside the extension, with the whole `vscode` interface.

const assert = require('node:assert/strict');
const vscode = require('vscode');

const ID = 'jarvis-ls.jarvis-ls';
const PATIENCE_MS = 120_000;

async function until(what, ask) {
  for (const began = Date.now(); Date.now() - began < PATIENCE_MS; ) {
    const answer = await ask();
    if (answer) {
      return answer;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never happened: ${what}`);
}

const fileUri = (name) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name);
const diagnosticsOf = (uri) =>
  vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'jarvis');
const ruleOf = ({ code }) => (typeof code === 'object' ? code.value : code);

async function show(name) {
  const document = await vscode.workspace.openTextDocument(fileUri(name));
  await vscode.window.showTextDocument(document);
  return document;
}

const tests = {
  async 'the extension offers its interface and has started a server'() {
    const extension = vscode.extensions.getExtension(ID);
    const api = await extension.activate();
    await api.ready();
    assert.ok(api.serverPid() > 0);
  },

  async 'a diagnostic has rule, link, severity, range and source'() {
    const { uri } = await show('copy.c');
    const [diagnostic] = await until('diagnostic', () => {
      const list = diagnosticsOf(uri);
      return list.length > 0 && list;
    });
    assert.equal(ruleOf(diagnostic), 'unbounded-string-copy');
    assert.ok(diagnostic.code.target, 'no link to the page of the rule');
    assert.equal(diagnostic.range.start.line, 5);
    assert.ok(diagnostic.message.length > 10);
  },

  async 'text that was never saved is what is analysed, also in a file without a name'() {
    const content = '#include <stdio.h>\nvoid ask(void) { char line[8]; gets(line); }\n';
    const document = await vscode.workspace.openTextDocument({ language: 'c', content });
    await vscode.window.showTextDocument(document);
    await until('diagnostic', () => diagnosticsOf(document.uri).some((it) => ruleOf(it) === 'gets-call'));
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  },

  async 'a document that is open without a tab keeps its findings'() {
    const uri = fileUri('read.c');
    const content = '#include <stdio.h>\nvoid ask(void) { char line[8]; gets(line); }\n';
    const write = (text) => vscode.workspace.fs.writeFile(uri, Buffer.from(text));
    const findingIn = (line) =>
      until(`its finding in line ${line}`, () =>
        diagnosticsOf(uri).some((it) => ruleOf(it) === 'gets-call' && it.range.start.line === line),
      );
    await write(content);
    await findingIn(1);
    await vscode.workspace.openTextDocument(uri); // as extensions do that read it
    await write(`\n\n${content}`);
    await findingIn(3);
    await vscode.workspace.fs.delete(uri);
  },

  async 'hovering a finding explains it'() {
    const { uri } = await show('copy.c');
    const hovers = await until('hover', async () => {
      const position = new vscode.Position(5, 4);
      const list = await vscode.commands.executeCommand('vscode.executeHoverProvider', uri, position);
      return list.length > 0 && list;
    });
    const text = hovers.flatMap(({ contents }) => contents.map((it) => it.value ?? it)).join('\n');
    assert.match(text, /Score \d\.\d+ of 3 = .*\(severity (medium|low)\)/);
    assert.match(text, /stop at the end of the source/);
    assert.match(text, /CWE-/);
  },

  async 'a row that has gone before its menu was used stands for no other finding'() {
    const document = await show('copy.c');
    const before = document.getText();
    vscode.window.activeTextEditor.selection = new vscode.Selection(5, 4, 5, 4);
    await vscode.commands.executeCommand('jarvisLs.fix', undefined, undefined);
    await vscode.commands.executeCommand('jarvisLs.suppress', undefined, undefined);
    assert.equal(document.getText(), before);
    await vscode.commands.executeCommand('notifications.clearAll');
  },

  async 'the preferred quick fix is applied, saved, and ends the finding'() {
    const document = await show('copy.c');
    const [diagnostic] = await until('diagnostic', () => {
      const list = diagnosticsOf(document.uri);
      return list.length > 0 && list;
    });
    const fix = await until('a preferred fix', async () => {
      const actions = await vscode.commands.executeCommand(
        'vscode.executeCodeActionProvider',
        ...[document.uri, diagnostic.range, vscode.CodeActionKind.QuickFix.value, 20],
      );
      return actions.find(({ isPreferred, edit }) => isPreferred && edit);
    });
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.ok(await document.save());
    await until('no diagnostic', () => diagnosticsOf(document.uri).length === 0);
  },

  async 'all fixes of a file are applied by the source action'() {
    const document = await show('many.c');
    await until('diagnostics', () => diagnosticsOf(document.uri).length === 3);
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    const actions = await vscode.commands.executeCommand(
      'vscode.executeCodeActionProvider',
      ...[document.uri, all, 'source.fixAll.jarvis', 20],
    );
    assert.equal(actions.length, 1);
    assert.ok(await vscode.workspace.applyEdit(actions[0].edit));
    await until('no diagnostic', () => diagnosticsOf(document.uri).length === 0);
    assert.equal(document.getText().match(/snprintf/g).length, 3);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  },

  async 'the scan command tells its result'() {
    const result = await vscode.commands.executeCommand('jarvisLs.scanWorkspace');
    assert.equal(result.cancelled, false);
    assert.equal(result.files, 2);
  },

  async 'a setting takes effect at once'() {
    const { uri } = await show('many.c');
    await until('diagnostics', () => diagnosticsOf(uri).length === 3);
    const settings = vscode.workspace.getConfiguration('jarvisLs');
    const target = vscode.ConfigurationTarget.Global;
    await settings.update('rules', { 'unbounded-string-copy': 'off' }, target);
    await until('no diagnostic', () => diagnosticsOf(uri).length === 0);
    await settings.update('rules', undefined, target);
    await until('diagnostics again', () => diagnosticsOf(uri).length === 3);
  },

  async 'a renamed file takes its findings along'() {
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(fileUri('many.c'), fileUri('renamed.c'));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await until('moved', () => diagnosticsOf(fileUri('renamed.c')).length === 3);
    await until('gone', () => diagnosticsOf(fileUri('many.c')).length === 0);
  },
};

exports.run = async () => {
  const failures = [];
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`in-host ok: ${name}`);
    } catch (error) {
      failures.push(`${name}: ${error.stack}`);
    }
  }
  if (failures.length > 0) {
    throw new Error(failures.join('\n\n'));
  }
};
