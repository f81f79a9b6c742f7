// A scripted model for a test: no real one is ever reached. It speaks over real HTTP.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { venv } from '../../scripts/setup/python.mjs';

/**
 * @typedef {object} Said
 * @property {string} [of] the name in brackets in an agent's task; the main agent without
 * @property {string} [say]
 * @property {[name: string, args: Record<string, unknown>][]} [calls]
 * @property {number} [refuse] an HTTP status instead of an answer
 * @property {string} [message] what the provider says to it
 * @property {string} [thinking]
 * @property {number} [pieces]
 * @property {number} [delay] seconds before each piece
 * @property {number} [stall_after] pieces, then nothing
 */

/**
 * Starts the model; end it with `close`.
 * @param {...('--security' | '--auto')} options see model.py
 */
export async function startModel(...options) {
  const child = spawn(venv('python'), [path.join(import.meta.dirname, 'model.py'), ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const url = (await lines.next()).value;
  return {
    url,
    /** @param {Said[]} answers in the order they are given */
    async script(...answers) {
      for (const answer of answers) {
        child.stdin.write(`${JSON.stringify(answer)}\n`);
        await lines.next();
      }
    },
    /** @param {{key?: string, models?: string[]}} server the only key it takes, what it lists */
    async set(server) {
      child.stdin.write(`${JSON.stringify({ server })}\n`);
      await lines.next();
    },
    /**
     * Tells auto mode's model its plan, which tasks it holds, or that it holds none any more.
     * @param {{plan?: object, held?: string[], release?: boolean}} auto
     */
    async auto(auto) {
      child.stdin.write(`${JSON.stringify(auto)}\n`);
      await lines.next();
    },
    /**
     * Writes the settings that name this model as the only one.
     * @param {string} home of Jarvis
     * @param {string[]} more lines of settings
     */
    configure(home, more = []) {
      mkdirSync(home, { recursive: true });
      const settings = [
        '[model_providers.scripted]',
        `base = "${url}"`,
        'needs_key = false',
        '[model_groups.balanced]',
        'models = ["scripted/scripted"]',
        ...more,
        '',
      ];
      writeFileSync(path.join(home, 'config.toml'), settings.join('\n'));
    },
    async close() {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}
