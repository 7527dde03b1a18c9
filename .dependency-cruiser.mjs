/**
 * Who may import whom. Imports go one way:
 *
 *   index → gateway → the resource rooms → structured, streams, tasks, uploads, observing, limits → http
 *   → gateways → answers, errors, check → the ground floor (types, options, endpoints)
 *
 * Types count like code, and every file is on a floor. A resource room never imports another one: what
 * two share goes down a floor. So `http` knows neither `observing` nor `account`: the gateway passes both
 * to it.
 * `stream` gives what reads a stream that a server sends on, and nothing of the client.
 * The entry points `node`, `helpers` and `testing` build on all of it, and nothing builds on them; adapters
 * for other packages (`ai-sdk`, `otel`, …) build on what users see of it.
 */
const resources = 'src/(chat|generate|embeddings|images|audio|models|videos|account|routes)/';
const entries = 'src/(node|helpers|testing|ai-sdk|otel|ledgers|bullmq|cli|mcp|playground)/';

/** From the ground up: none imports what stands above it. */
const floors = [
  [
    'ground',
    'The ground floor imports nothing.',
    'src/((types|options|endpoints|node-process)\\.ts$|gateways/(account|profile)\\.ts$)',
  ],
  [
    'answers',
    'Answers, errors and checks know no request.',
    'src/(errors/|answers/|openai/(constructors|list-page)\\.ts$|(check|option-names|snapshot)\\.ts$)',
  ],
  [
    'gateways',
    'What differs between gateways is data and pure functions.',
    'src/gateways/(?!(account|profile)\\.ts$)',
  ],
  [
    'http',
    'Sending a request knows no resource, no stream, no form and no listener.',
    'src/(http|fallback)/',
  ],
  [
    'middle',
    'What resources share knows no resource.',
    'src/((structured|streams|tasks|uploads|observing|limits)/|many\\.ts$)',
  ],
  ['resources', 'A resource is handed what it needs by the gateway.', resources],
  [
    'gateway',
    'The client knows nothing that builds on it.',
    'src/(openai/(?!(constructors|list-page)\\.ts$)|(core|core-client|gateway|index|stream)\\.ts$)',
  ],
  ['entries', '', entries],
];

const anyFloor = floors.map(([, , path]) => path).join('|');

/** Code below `from` may import nothing of `to`. */
const never = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `^${from}` },
  to: { path: to.map((path) => `^${path}`) },
});

/** A package that only one place may import. */
const onlyIn = (library, path) => ({
  name: `${library}-in-one-place`,
  comment: `Only ${path} imports ${library}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^${path}` },
  to: { path: `(^|node_modules/)${library}(/|$)` },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that import each other cannot be understood one by one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...floors.slice(0, -1).map(([name, comment, path], floor) =>
      never(
        name,
        comment,
        path,
        floors.slice(floor + 1).map(([, , above]) => above),
      ),
    ),
    {
      name: 'on-a-floor',
      comment: 'Every file is on a floor.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/', pathNot: `^(${anyFloor})` },
    },
    {
      name: 'resource-rooms',
      comment: 'A resource room never imports another one.',
      severity: 'error',
      from: { path: `^${resources}` },
      to: { path: `^${resources}`, pathNot: '^src/$1/' },
    },
    {
      name: 'entry-points',
      comment: 'Entry points build on the core, and one not on another.',
      severity: 'error',
      from: { path: '^src/([^/]+)', pathNot: '^src/(testing|cli|mcp|playground|bullmq)/' },
      to: { path: `^${entries}`, pathNot: '^src/$1/' },
    },
    never('stream', 'Who only reads streams loads no client.', 'src/stream\\.ts$', [
      'src/(uploads|embeddings|models|videos)/',
      'src/http/(?!promise)',
      'src/(core|core-client|gateway|index)\\.ts$',
      entries,
    ]),
    {
      name: 'adapters',
      comment: 'Other packages are served with what users have too.',
      severity: 'error',
      from: { path: '^src/(ai-sdk|otel|ledgers)/' },
      to: { path: '^src/', pathNot: '^src/($1/|index\\.ts$)' },
    },
    {
      name: 'queues',
      comment: 'Workers of a queue run on Node, and save files as its users do.',
      severity: 'error',
      from: { path: '^src/bullmq/' },
      to: { path: '^src/', pathNot: '^src/(bullmq/|(node/)?index\\.ts$)' },
    },
    onlyIn('ky', 'src/http/'),
    onlyIn('@ai-sdk/provider', 'src/ai-sdk/'),
    onlyIn('@opentelemetry/api', 'src/otel/'),
    onlyIn('form-data', 'src/uploads/'),
    onlyIn('eventsource-parser', 'src/streams/'),
    onlyIn('msw', 'src/testing/'),
    onlyIn('commander', 'src/cli/'),
    onlyIn('@modelcontextprotocol/server', 'src/mcp/sdk'),
    onlyIn('(fast-png|jpeg-js)', 'src/mcp/jobs/thumbnail'),
    onlyIn('zod', 'src/(helpers/|cli/doctor/report-schema|mcp/sdk)'),
    {
      name: 'runs-everywhere',
      comment: 'Only the entry for Node and the emulator may use what Node alone has.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(node|testing|cli|mcp|playground)/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};
