// The smallest client of a language server: enough to see that an installed one works.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What has not happened by then never will, on however slow a machine. */
const PATIENCE_MS = 120_000;

/**
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 */
export function startServer(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  /** @type {((message: any) => void)[]} */
  const listeners = [];
  /** @type {any[]} */
  const messages = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  readMessages(child.stdout, (message) => {
    messages.push(message);
    for (const listener of [...listeners]) listener(message);
  });

  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  /** The first message, past or to come, that a test is content with. */
  const waitFor = (wanted) =>
    new Promise((resolve, reject) => {
      const past = messages.find(wanted);
      if (past) return resolve(past);
      listeners.push((message) => wanted(message) && resolve(message));
      ended.then(([status]) => reject(new Error(`server ended with ${status}: ${stderr}`)));
      const given = JSON.stringify(messages.at(-1));
      const late = () => reject(new Error(`never happened; last: ${given}; ${stderr}`));
      setTimeout(late, PATIENCE_MS).unref();
    });
  let id = 0;
  const request = async (method, params) => {
    const own = ++id;
    send({ id: own, method, params });
    const answer = await waitFor((message) => message.id === own && !message.method);
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  const notify = (method, params) => send({ method, params });
  return { request, notify, waitFor, ended, kill: () => child.kill('SIGKILL') };
}

function readMessages(stream, deliver) {
  let buffer = Buffer.alloc(0);
  stream.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const head = /^.*?Content-Length: (\d+).*?\r\n\r\n/is.exec(buffer.toString('latin1'));
      if (!head) return;
      const end = head[0].length + Number(head[1]);
      if (buffer.length < end) return;
      deliver(JSON.parse(buffer.subarray(head[0].length, end).toString('utf8')));
      buffer = buffer.subarray(end);
    }
  });
}
