// A conversation with one of everything, for tests and pictures.

export const SESSION = '01900000-0000-7000-8000-000000000001';
export const usage = (input = 0, output = 0, cost = 0) => ({
  input,
  output,
  cached: 0,
  reasoning: 0,
  cost,
});

export function info(more = {}) {
  return {
    id: SESSION,
    title: 'Length checks in the parser',
    folder: '/ws',
    created: 1_790_000_000,
    updated: Date.now() / 1000 - 300,
    usage: usage(18_400, 2150, 0.0731),
    messages: 6,
    mode: 'ask',
    working: false,
    ...more,
  };
}

export function node(id, more = {}) {
  return {
    id,
    parent: undefined,
    kind: 'root',
    title: 'Main',
    state: 'completed',
    activity: '',
    group: 'balanced',
    rounds: 3,
    usage: usage(12_000, 1500, 0.05),
    subtree: usage(18_400, 2150, 0.0731),
    budget: {},
    error: '',
    ...more,
  };
}

export const putNode = (it) => ({ kind: 'node_put', session: SESSION, node: it });
export const put = (entry, of = 'root') => ({
  kind: 'entry_put',
  session: SESSION,
  node: of,
  entry,
});
export const grew = (entry, at, text, part = 'text', of = 'root') => ({
  kind: 'entry_grew',
  session: SESSION,
  node: of,
  entry,
  part,
  at,
  text,
});
export const user = (id, text, more = {}) => ({
  kind: 'user',
  id,
  text,
  images: [],
  queued: false,
  checkpoint: '',
  ...more,
});
export const answer = (id, text, more = {}) => ({
  kind: 'answer',
  id,
  text,
  thinking: '',
  streaming: false,
  model: 'house/large',
  usage: usage(4200, 350, 0.012),
  ...more,
});
export const tool = (id, name, more = {}) => ({
  kind: 'tool',
  id,
  name,
  arguments: '{}',
  state: 'done',
  output: '',
  seconds: 0.4,
  asked: [],
  reason: '',
  edits: [],
  isolation: '',
  child: '',
  ...more,
});

const ANSWER = `The copy in \`parse_header\` trusts a length from the packet. Two places matter:

1. \`memcpy\` copies **len** bytes, checked against nothing.
2. The caller passes [the raw packet](src/net.c:88).

\`\`\`c
static int parse_header(const uint8_t *packet, size_t size) {
    uint16_t len = packet[0] << 8 | packet[1];  // from outside
    char name[64];
    memcpy(name, packet + 2, len);
    return handle(name, "header", 0x40);
}
\`\`\`

| place | checked | risk |
| --- | --- | --- |
| \`parse_header\` | no | high |
| \`parse_body\` | yes | low |

> A length from outside is never the size of a buffer.

See [CWE-120](https://cwe.mitre.org/data/definitions/120.html).`;

export const EDIT = {
  path: 'src/parser/header.c',
  change: 'modify',
  root: 0,
  hunks: [
    {
      index: 0,
      oldStart: 14,
      newStart: 14,
      oldLines: ['    memcpy(name, packet + 2, len);'],
      newLines: [
        '    if (len >= sizeof name || size < 2u + len) {',
        '        return -1;',
        '    }',
        '    memcpy(name, packet + 2, len);',
      ],
      before: ['    char name[64];'],
      after: ['    return handle(name, "header", 0x40);'],
    },
    {
      index: 1,
      oldStart: 41,
      newStart: 44,
      oldLines: ['int parse_body(const uint8_t *packet);'],
      newLines: ['int parse_body(const uint8_t *packet, size_t size);'],
      before: [],
      after: [''],
    },
  ],
};

/** Everything a conversation can hold, calm: nothing waits. */
export function conversation() {
  return [
    { kind: 'session_put', session: info() },
    putNode(node('root')),
    put(
      user('u1', 'Is the length in parse_header checked anywhere?\nIf not, repair it.', {
        checkpoint: 'c1',
      }),
    ),
    put({
      kind: 'plan',
      id: 'p1',
      steps: [
        { text: 'Read the parser and its callers', state: 'done' },
        { text: 'Repair the unchecked copy', state: 'active' },
        { text: 'Add a test with a long header', state: 'pending' },
        { text: 'Rewrite the parser', state: 'dropped' },
      ],
    }),
    put(
      tool('t1', 'read_code', {
        arguments: '{\n  "path": "src/parser/header.c",\n  "start": 1,\n  "end": 60\n}',
        output: 'static int parse_header(const uint8_t *packet, size_t size) {\n  …\n}',
      }),
    ),
    put(answer('a1', ANSWER, { thinking: 'The length comes from the packet.\nWho checks it?' })),
    put(
      tool('t2', 'execute_script', {
        arguments: '{\n  "script": "make check"\n}',
        state: 'failed',
        output: 'cc -Wall -o check check.c\ncheck.c:12: error: too few arguments',
        isolation: 'bubblewrap',
        seconds: 12.6,
      }),
    ),
    put({
      kind: 'notice',
      id: 'n1',
      level: 'warning',
      text: 'house/large answered “too many requests”; next try in 8 s.',
    }),
    {
      kind: 'meter_put',
      session: SESSION,
      node: 'root',
      meter: {
        window: 128_000,
        parts: { system: 2100, rules: 800, tools: 5200, memory: 640, files: 11_000, history: 9660 },
      },
    },
  ];
}

export const ASKED_SCRIPT = tool('t3', 'execute_script', {
  arguments: '{\n  "script": "make check && ./run-tests --fast"\n}',
  state: 'asked',
  seconds: 0,
  asked: [
    { kind: 'execute', target: 'make check' },
    { kind: 'execute', target: './run-tests --fast' },
  ],
  script: {
    language: 'bash',
    text: 'make check 2>&1 | tail -5\n./run-tests --fast',
    folder: '/ws/parser',
    network: false,
    isolation: 'bwrap',
  },
  isolation: 'bwrap',
  reason: 'No rule allows these commands yet.',
  lasting: true,
});

export const ASKED_EDIT = tool('t4', 'edit_file', {
  arguments: '{\n  "path": "src/parser/header.c"\n}',
  state: 'asked',
  seconds: 0,
  edits: [EDIT],
});

/** What Agent mode ends with: one patch, with what it touches. */
export const ASKED_PATCH = tool('t5', 'change_code', {
  arguments: '{\n  "task": "Check the length of the header"\n}',
  state: 'asked',
  seconds: 0,
  reason: 'Risk: medium, 2 callers. 14 tests passed, 1 failed before and after.',
  edits: [EDIT],
});

/** A graph of auto mode, with tasks in every state. */
export function tasks() {
  const task = (/** @type {string} */ id, /** @type {string[]} */ needs, state, more = {}) => ({
    ...{ id, title: `Test ${id}`, needs, state, node: `n-${id}` },
    ...{ attempts: 1, corrections: [], error: '', ...more },
  });
  const corrections = [{ cause: 'stuck', kind: 'redirect', text: 'Read the header first.' }];
  return put({
    kind: 'tasks',
    id: 'g1',
    state: 'running',
    tasks: [
      task('scanner', [], 'done'),
      task('parser', [], 'running', { attempts: 2, corrections }),
      task('writer', [], 'failed', { error: 'HTTP 500' }),
      task('protocol', ['scanner', 'parser'], 'waiting'),
      task('examples', ['writer'], 'skipped', { title: 'Describe every example of the manual' }),
      task('manual', ['protocol'], 'cancelled', { title: '为每个公开的函数编写完整的文档' }),
    ],
  });
}

/** Three levels of agents, in every state. */
export function tree() {
  const child = (id, parent, title, more) =>
    putNode(
      node(id, {
        parent,
        kind: 'child',
        title,
        usage: usage(900, 80, 0.002),
        subtree: usage(900, 80, 0.002),
        ...more,
      }),
    );
  return [
    putNode(
      node('root', {
        state: 'running',
        title: 'Repair the parser',
        activity: 'waits for two agents',
      }),
    ),
    child('n1', 'root', 'Callers of parse_header', {
      state: 'running',
      activity: 'reads src/net.c',
      progress: 0.6,
      subtree: usage(5200, 420, 0.013),
    }),
    child('n2', 'n1', 'src/net.c', { state: 'completed' }),
    child('n3', 'n1', 'src/tls/record_layer_with_a_long_name.c', {
      state: 'running',
      activity: 'search_in_project',
      kind: 'act',
      progress: 0.2,
    }),
    child('n4', 'root', 'Tests', {
      state: 'paused',
      activity: 'paused by you',
      budget: { tokens: 50_000, cost: 0.5 },
    }),
    child('n5', 'root', 'Fuzzing', { state: 'failed', error: 'The compiler has no sanitizer.' }),
    child('n6', 'root', 'Documentation', { state: 'cancelled' }),
  ];
}

export const EXPLORED = {
  files: [
    {
      path: 'src/parser/header.c',
      root: 0,
      read: 3,
      change: 'modify',
      added: 5,
      removed: 2,
      nodes: ['root'],
      entries: ['t4'],
    },
    {
      path: 'tests/long_header.c',
      root: 0,
      read: 0,
      change: 'create',
      added: 41,
      removed: 0,
      nodes: ['root'],
      entries: ['t9'],
    },
    {
      path: 'Makefile',
      root: 0,
      read: 2,
      change: 'none',
      added: 0,
      removed: 0,
      nodes: ['n1'],
      entries: [],
    },
    {
      path: 'src/net.c',
      root: 0,
      read: 1,
      change: 'none',
      added: 0,
      removed: 0,
      nodes: ['n1'],
      entries: [],
    },
  ],
  checkpoints: [
    {
      id: 'c1',
      entry: 'u1',
      title: 'Is the length in parse_header checked anywhere?',
      time: Date.now() / 1000 - 900,
    },
  ],
};

export const MEMORIES = {
  items: [
    {
      memory: 'project',
      id: 'm1',
      content:
        'Lengths from packets are checked in net.c: packet_take(); parsers may trust it only through packet_view.',
      tags: ['parser', 'lengths'],
      updated: Date.now() / 1000 - 7200,
      path: '.jarvis/memory/m1.md',
    },
    {
      memory: 'project',
      id: 'm2',
      content: 'Tests run with `make check`; the fuzzers need clang.',
      tags: ['build'],
      updated: Date.now() / 1000 - 90_000,
      path: '',
    },
    {
      memory: 'global',
      id: 'm3',
      content: 'Prefer early returns; no em dashes in comments.',
      tags: ['style'],
      updated: Date.now() / 1000 - 900_000,
      path: '',
    },
  ],
};

export const SETTINGS = {
  file: '/home/me/.jarvis/settings.toml',
  template: '',
  providers: [
    {
      name: 'house',
      type: 'openai',
      base: 'https://models.house.example/v1',
      variables: ['HOUSE_API_KEY'],
      ready: true,
    },
    { name: 'far', type: 'anthropic', base: '', variables: ['FAR_API_KEY'], ready: false },
  ],
  groups: [
    {
      title: 'Permissions',
      lines: [
        { name: 'allow execute_script', value: 'make check', detail: '', level: 'info' },
        { name: 'deny *', value: 'git push*', detail: 'user rule', level: 'info' },
      ],
    },
    {
      title: 'Servers',
      lines: [
        {
          name: 'docs',
          value: 'stdio',
          detail: 'The program docs-server was not found.',
          level: 'error',
        },
      ],
    },
  ],
};

export const SESSIONS = [
  info(),
  info({
    id: 's2',
    title: 'Explain double-free in list.c',
    updated: Date.now() / 1000 - 90_000,
    usage: usage(2000, 100),
    messages: 4,
    working: true,
  }),
  info({
    id: 's3',
    title: 'A title that is much too long for the width of a side bar and has to be cut somewhere',
    updated: Date.now() / 1000 - 900_000,
    usage: usage(0, 0),
    messages: 1,
  }),
];
