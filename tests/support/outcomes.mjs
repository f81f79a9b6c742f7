// A reporter of Node's runner: at the end one JSON object, by file whether each of its tests ran and
// passed.

import path from 'node:path';
import { ROOT } from '../../scripts/process.mjs';

/**
 * @param {AsyncIterable<{type: string, data: {file?: string, skip?: unknown, todo?: unknown}}>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* outcomes(events) {
  /** @type {Record<string, boolean>} */
  const passed = {};
  for await (const { type, data } of events) {
    if (data?.file === undefined || (type !== 'test:pass' && type !== 'test:fail')) continue;
    const file = path.relative(ROOT, data.file);
    const good = type === 'test:pass' && data.skip === undefined && data.todo === undefined;
    passed[file] = (passed[file] ?? true) && good;
  }
  yield JSON.stringify(passed);
}
