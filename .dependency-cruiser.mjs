/**
 * Imports go one way, from the top of this list to the bottom:
 *
 *   programs, adapters, testing → index, core, stream → client → resources → policies
 *   → structured, streams, tasks, uploads → calls → http → gateways → options → errors → answers
 *   → endpoints, types
 *
 * Type imports count as imports, and every file is on a floor. A resource never imports another one:
 * what two of them share is on a floor below, except for the errors that responses.parse() throws. `calls` and
 * `http` know no resource, no stream, no form and no policy, and a resource knows no policy either: the client
 * hands them to its calls.
 */
const resources = 'src/resources/';
const entries = 'src/(programs|adapters|testing)/';

/** From the bottom to the top: a file never imports from a floor above its own. */
const floors = [
  ['contract', 'The contract of the HTTP API is data.', 'src/(types|endpoints)\\.ts$'],
  ['answers', 'Reading JSON knows no error class.', 'src/answers/'],
  ['errors', 'Error classes know no option.', 'src/errors/'],
  ['options', 'Options and their checks know no gateway.', 'src/options/'],
  ['gateways', 'Differences between gateways are data and pure functions.', 'src/gateways/'],
  ['http', 'The wire knows no call.', 'src/http/'],
  ['calls', 'A call knows no resource, stream, form or policy.', 'src/calls/'],
  ['shared', 'What resources share knows no resource.', 'src/(structured|streams|tasks|uploads)/'],
  ['policies', 'A policy knows no resource.', 'src/policies/'],
  ['resources', 'A resource receives what it needs from the client.', resources],
  [
    'client',
    'The client knows nothing that is built on it.',
    'src/(client/|(core|index|stream)\\.ts$)',
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

/** Imports of a room, other than from itself, that are allowed. */
const only = (name, comment, room, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `^(src/${room})/` },
  to: { path: '^src/', pathNot: ['^$1/', ...allowed.map((path) => `^src/${path}`)] },
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
      comment: 'A resource never imports another one.',
      severity: 'error',
      from: { path: `^${resources}([^/]+)/`, pathNot: `^${resources}responses/parse\\.ts$` },
      to: { path: `^${resources}`, pathNot: `^${resources}$1/` },
    },
    {
      name: 'responses-parse',
      comment: 'responses.parse() throws the classes of chat, whose types belong to chat.',
      severity: 'error',
      from: { path: `^${resources}responses/parse\\.ts$` },
      to: { path: `^${resources}`, pathNot: `^${resources}(responses/|chat/errors\\.ts$)` },
    },
    never(
      'policies-around-calls',
      'A call runs only the policies that its client has.',
      resources,
      ['src/policies/'],
    ),
    never('stream', 'Reading a stream loads no client.', 'src/stream\\.ts$', [
      'src/uploads/',
      'src/resources/(embeddings|models|videos)/',
      'src/calls/(?!promise)',
      'src/http/',
      'src/client/(?!openai/)',
      'src/(core|index)\\.ts$',
      entries,
    ]),
    only(
      'adapters',
      'Adapters for other packages use the public API, and read files, pieces, finish reasons and options as the client does.',
      'adapters/(ai-sdk|otel|ledgers)',
      [
        '(index|endpoints)\\.ts$',
        'answers/(finish-reasons|pieces|received-file)\\.ts$',
        'options/option-names\\.ts$',
      ],
    ),
    only(
      'queues',
      'Workers of a queue save files with the public API for Node, and read codes of errors and options of methods as the client does.',
      'adapters/bullmq',
      [
        '(adapters/node/)?index\\.ts$',
        'answers/(error-codes|objects)\\.ts$',
        'options/resolve\\.ts$',
      ],
    ),
    only('helpers', 'Helpers convert schemas and tools, and send nothing.', 'adapters/helpers', [
      'types\\.ts$',
      '(answers|errors|structured)/',
      'options/check\\.ts$',
    ]),
    only(
      'node',
      'The entry point for Node shares the checks and handles of the client.',
      'adapters/node',
      [
        '(answers|errors)/',
        'options/check\\.ts$',
        'http/(abort|request)\\.ts$',
        'tasks/(ledger|ref)\\.ts$',
        'uploads/file-input\\.ts$',
        'resources/videos/(ref|types|wait-options)\\.ts$',
        'client/gateway\\.ts$',
      ],
    ),
    only(
      'testing',
      'The emulator shares the contract with the client, and none of its calls.',
      'testing',
      ['(endpoints|types)\\.ts$', '(answers|errors|options|http)/', 'uploads/'],
    ),
    only(
      'programs',
      'Programs use the public client, and read JSON as it does.',
      'programs/[^/]+',
      [
        '(index|endpoints|types)\\.ts$',
        '(answers|errors|gateways|testing|programs)/',
        'adapters/(node|ledgers)/',
        'options/(clean-key|gateway-profile|options)\\.ts$',
        'http/(abort|classify|node/proxy|redaction|url)\\.ts$',
        'resources/account/(cost|budget/request-cost)\\.ts$',
        'resources/videos/types\\.ts$',
        'streams/errors\\.ts$',
        'tasks/reading\\.ts$',
      ],
    ),
    onlyIn('ky', 'src/http/'),
    onlyIn('@ai-sdk/provider', 'src/adapters/ai-sdk/'),
    onlyIn('@opentelemetry/api', 'src/adapters/otel/'),
    onlyIn('form-data', 'src/uploads/'),
    onlyIn('eventsource-parser', 'src/streams/'),
    onlyIn('msw', 'src/testing/'),
    onlyIn('(commander|@bomb\\.sh/tab)', 'src/programs/cli/'),
    onlyIn('@modelcontextprotocol/server', 'src/programs/mcp/sdk'),
    onlyIn('(fast-png|jpeg-js)', 'src/programs/mcp/jobs/thumbnail'),
    onlyIn('ipaddr\\.js', 'src/programs/mcp/tools/public-host'),
    onlyIn('zod', 'src/(adapters/helpers/|programs/(cli/doctor/report-schema|mcp/sdk))'),
    {
      name: 'runs-everywhere',
      comment: 'Only the entry for Node and the emulator may use what Node alone has.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters/node|testing|programs)/' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};
