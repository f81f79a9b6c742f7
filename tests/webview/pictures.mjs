// Pictures of the panel to be looked at: `node tests/webview/pictures.mjs [FOLDER [THEME]]`;
// `node tests/webview/pictures.mjs --docs` takes those of `docs/panel.md`.
//
// Every theme of the editor, from 280 to 900 px, English and Chinese: an answer with code, tool calls,
// what is asked for (a script, a diff, a patch), faults, the graph of auto mode, the tree of agents, and
// the other tabs.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openBrowser, THEMES } from './host.mjs';
import {
  ASKED_EDIT,
  ASKED_PATCH,
  ASKED_SCRIPT,
  answer,
  conversation,
  EXPLORED,
  MEMORIES,
  put,
  SESSION,
  SESSIONS,
  SETTINGS,
  tasks,
  tool,
  tree,
  user,
} from './sample.mjs';

const IS_FOR_DOCS = process.argv[2] === '--docs';
const FOLDER = IS_FOR_DOCS
  ? path.resolve(import.meta.dirname, '..', '..', 'docs', 'pictures')
  : path.resolve(process.argv[2] ?? 'panel-pictures');
/** Theme, width and language of those in the documentation. */
const DOCS = [
  ['dark', 280, 'en'],
  ['contrast', 280, 'en'],
  ['light', 360, 'zh-cn'],
  ['contrastLight', 360, 'en'],
  ['light', 900, 'en'],
];
const WIDTHS = { least: 280, narrow: 360, wide: 900 };
const ANSWERS = {
  explorer: EXPLORED,
  memories: MEMORIES,
  settings: SETTINGS,
  sessions: { sessions: SESSIONS, total: 3 },
};
const LONG_NAME = 'src/protocol/handlers/authentication/session_resumption_ticket_cache.c';
const FAULT =
  'deepseek/deepseek-chat: The API key was rejected (HTTP 401): Authentication Fails. Set a valid key in DEEPSEEK_API_KEY.';
const TABLE =
  '| Place | What is wrong | Since |\n| --- | --- | ---: |\n| `parse_header` | the length is not checked before the copy | 2.1 |\n| `read_ticket` | the result of `malloc` is used | 2.4 |\n';
/** What is rarer, and what is long. */
const MORE = [
  put(user('p1', `Look at @${LONG_NAME}:120-140 too`)),
  put({
    kind: 'notice',
    id: 'p2',
    level: 'info',
    text: 'The conversation was replaced by a summary.',
  }),
  put({ kind: 'notice', id: 'p3', level: 'warning', text: `Waiting 12 s for the model: ${FAULT}` }),
  put({ kind: 'notice', id: 'p4', level: 'error', text: FAULT }),
  put(
    tool('p5', 'execute_script', {
      state: 'failed',
      output: 'make: *** [all] Error 2\n',
      seconds: 12.4,
      isolation: 'bwrap',
    }),
  ),
  put(
    tool('p6', 'rewrite_file', {
      state: 'denied',
      reason: 'A permission rule denies it: .github*',
    }),
  ),
  put(
    answer(
      'p7',
      `## Two places\n\n${TABLE}\n1. Check the length.\n2. Test it:\n\n\`\`\`c\nif (length > sizeof buffer) { return -1; } /* a long line that does not fit into a narrow panel */\n\`\`\`\n\n> A quote with \`code\`.\n`,
      { thinking: 'The length comes first.' },
    ),
  ),
  put({
    kind: 'question',
    id: 'p8',
    text: 'The budget of “Main” is 20,000 tokens; 19,874 tokens is used. The next model call would exceed it. Continue?',
    choices: ['Allow 20,000 tokens more', 'Continue without a limit', 'Stop'],
  }),
];
const EVENTS = [
  ...conversation(),
  ...tree(),
  ...MORE,
  tasks(),
  put(ASKED_SCRIPT),
  put(ASKED_EDIT),
  put(ASKED_PATCH),
];
/** What the documentation shows besides what waits: calls that are folded, and code with its buttons. */
const SHOWN = [
  ...['header.c', 'body.c', 'packet.h'].map((name, at) =>
    put(
      tool(`d${at}`, 'read_code', {
        arguments: JSON.stringify({ files: [{ path: `src/parser/${name}` }] }),
      }),
    ),
  ),
  put(
    answer(
      'd9',
      'In `src/parser/header.c` nothing limits `len`:\n\n```c\nif (len >= sizeof name)\n    return -1;\n```\n',
    ),
  ),
];
const PICTURE = { session: SESSION, sessions: SESSIONS, events: EVENTS };

mkdirSync(FOLDER, { recursive: true });
const host = await openBrowser();
if (IS_FOR_DOCS) {
  for (const [theme, width, locale] of DOCS) {
    await takeEnd(theme, width, locale);
  }
} else {
  for (const theme of process.argv[3] ? [process.argv[3]] : Object.keys(THEMES)) {
    for (const [size, width] of Object.entries(WIDTHS)) {
      await take(theme, size, width, 'en');
    }
  }
  await take('light', 'narrow', 360, 'zh-cn');
}
await host.close();
console.log(FOLDER);

/**
 * The end of the conversation, where something waits for the user.
 * @param {string} theme @param {number} width @param {string} locale
 */
async function takeEnd(theme, width, locale) {
  const picture = {
    session: SESSION,
    events: [
      ...conversation(),
      ...(width > 400 ? [tasks()] : []),
      ...SHOWN,
      put(ASKED_SCRIPT),
      put(ASKED_EDIT),
    ],
  };
  const panel = await host.open({ theme, width, locale, picture, height: 1250 });
  await panel.settled();
  await panel.picture(path.join(FOLDER, `panel-${theme}-${width}.png`));
  await panel.close();
}

/** @param {string} theme @param {string} size @param {number} width @param {string} locale */
async function take(theme, size, width, locale) {
  const name = [theme, size, ...(locale === 'en' ? [] : [locale])].join('-');
  const options = { theme, width, locale, picture: PICTURE, answers: ANSWERS };
  const panel = await host.open({ ...options, height: 3200 });
  const shot = (/** @type {string} */ what) =>
    panel.page.screenshot({ path: path.join(FOLDER, `${name}-${what}.png`) });
  await panel.settled();
  await panel.page.locator('.entries').evaluate((it) => {
    it.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
    it.scrollTop = 0;
  });
  await panel.settled();
  await shot('chat');
  await panel.page.setViewportSize({ width, height: 900 });
  for (const tab of ['agents', 'explorer', 'memory', 'settings']) {
    await panel.tab(tab);
    await panel.settled();
    await shot(tab);
  }
  await panel.close();
  const empty = await host.open({ theme, width, locale, height: 900 });
  await empty.settled();
  await empty.page.screenshot({ path: path.join(FOLDER, `${name}-begin.png`) });
  await empty.close();
}
