// An extension with an agent, as other makers have: it uses the tools that models of the editor are
// given, and those of the tool server that is offered to it. What came of a command is in a file
// beside the workspace. (Tests of the editor's own kind are asked nothing: there everything is agreed.)

const assert = require('node:assert/strict');
const { appendFileSync } = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const ID = 'jarvis-ls.jarvis-ls';

/** What a tool tells a model; JSON where it is that. */
async function ask(name, input = {}) {
  const { content } = await vscode.lm.invokeTool(`jarvis_${name}`, {
    input,
    toolInvocationToken: undefined,
  });
  const [{ value }] = content;
  return /^[{[]/.test(value) ? JSON.parse(value) : value;
}

const useTools = {
  async 'the editor knows eight tools, each with a description and a schema'() {
    const api = await vscode.extensions.getExtension(ID).activate();
    await api.ready();
    const tools = vscode.lm.tools.filter(({ name }) => name.startsWith('jarvis_'));
    assert.equal(tools.length, 8);
    for (const { description, inputSchema } of tools) {
      assert.ok(description.length > 50 && inputSchema.type === 'object');
    }
  },

  async 'a model finds a flaw and learns about it'() {
    const { total, findings } = await ask('findings', { rule: 'double-free' });
    assert.equal(total, 1);
    const [{ id, file, line }] = findings;
    assert.deepEqual([file, line], ['twice.c', 11]);
    const { path, why } = await ask('explain_finding', { name: id });
    assert.equal(path.at(-1).line, 11);
    assert.match(why, /free/);
    assert.match(await ask('explain_rule', { rule: 'double-free' }), /^# double-free/);
    assert.equal((await ask('scan')).files, 1);
    assert.equal((await ask('migration_status')).functions, 0);
    await assert.rejects(ask('explain_finding', { name: 'C000000' }), /C000000/);
    await assert.rejects(ask('findings', { limit: 0 }), /limit/);
    await assert.rejects(ask('findings', { folder: 'nowhere' }));
    await assert.rejects(ask('impact'), /git/);
  },

  async 'code is run when the user has agreed, and only then'() {
    const [{ id }] = (await ask('findings', { rule: 'double-free' })).findings;
    await assert.rejects(ask('prove', { name: id })); // the user says no
    assert.equal((await ask('findings', { rule: 'double-free' })).findings[0].evidence, '');
    const { verdict } = await ask('prove', { name: id });
    assert.equal(verdict, 'reproduced');
    const again = await ask('findings', { rule: 'double-free' });
    assert.equal(again.findings[0].evidence, 'reproduced');
  },
};

const useServer = {
  async 'the tools of the offered server answer without a question, for they only read'() {
    const named = (name) => vscode.lm.tools.find((it) => RegExp(`^[0-9a-f]+_${name}$`).test(it.name));
    const { name } = await became(() => named('findings'));
    assert.ok(named('impact'));
    const { content } = await vscode.lm.invokeTool(name, {
      input: { rule: 'double-free' },
      toolInvocationToken: undefined,
    });
    assert.match(JSON.stringify(content), /twice\.c/);
  },
};

/** Waits until a tool is there. */
async function became(ask) {
  for (const began = Date.now(); Date.now() - began < 30_000; ) {
    const found = ask();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no such tool in ${vscode.lm.tools.map((it) => it.name).join(', ')}`);
}

exports.activate = ({ subscriptions }) => {
  for (const [command, steps] of Object.entries({ useTools, useServer })) {
    subscriptions.push(vscode.commands.registerCommand(`agent.${command}`, () => run(steps)));
  }
};

async function run(steps) {
  const [{ uri }] = vscode.workspace.workspaceFolders;
  const say = (line) => appendFileSync(path.join(uri.fsPath, '..', 'agent.log'), `${line}\n`);
  try {
    for (const [name, step] of Object.entries(steps)) {
      await step();
      say(`ok: ${name}`);
    }
    say('end');
  } catch (error) {
    say(`failed: ${error.stack}\nend`);
  }
}
