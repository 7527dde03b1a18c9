/**
 * The guides "Options" from `src/options/option-table.ts`, which has the names, methods and defaults. Only types,
 * meanings, pages and defaults from the environment are written here.
 */
import { type Method, methods } from '../../src/options/methods.ts';
import { optionNames } from '../../src/options/option-names.ts';
import { type Option, type OptionName, optionTable } from '../../src/options/option-table.ts';
import { toTable } from './section.ts';

interface Text {
  /** The type without `null`. */
  readonly type: string;
  readonly meaning: string;
  /** What else its heading says, in sentences. */
  readonly more?: string;
  /** The default of an option for which the table has none. */
  readonly default?: string;
}

/** The pages that describe options, and the options of each in their order. */
export const optionPages = {
  'options-connection': [
    'apiKey',
    'baseURL',
    'gateway',
    'organization',
    'project',
    'headers',
    'defaultHeaders',
    'query',
    'defaultQuery',
    'extraBody',
    'path',
    'method',
    'body',
    'stream',
    'fetch',
    'fetchOptions',
    'dangerouslyAllowBrowser',
  ],
  'options-charges': [
    'maxRetries',
    'retryUnknownOutcome',
    'retryBudget',
    'idempotency',
    'idempotencyKey',
    'fallback',
    'fallbackOn',
    'onFallback',
    'budget',
    'limits',
    'concurrency',
    'batchSize',
    'maxChatCompletions',
    'maxCalls',
  ],
  'options-time': [
    'timeout',
    'firstByteTimeout',
    'idleTimeout',
    'chunkTimeout',
    'totalTimeout',
    'taskTimeout',
    'pollTimeout',
    'signal',
    'maxEventBytes',
    'maxResponseBytes',
    'maxAge',
  ],
  'options-tasks': [
    'callId',
    'ledger',
    'onUnknown',
    'onSubmitted',
    'onUpdate',
    'interval',
    'maxPollsPerSecond',
    'maxConsecutiveErrors',
    'bodyFormat',
    'variant',
    'resultURL',
  ],
  'options-results': [
    'structuredOutput',
    'onTruncated',
    'partial',
    'validation',
    'onDrift',
    'afterCompletion',
    'onContent',
    'onProgress',
    'onUploadProgress',
    'observer',
    'onRequest',
    'onResponse',
    'logger',
    'logLevel',
  ],
} as const satisfies Readonly<Record<string, readonly OptionName[]>>;

export type OptionPage = keyof typeof optionPages;

const ms = 'ms';
const callback = 'function';

const texts: Readonly<Record<OptionName, Text>> = {
  apiKey: {
    type: 'string or function',
    default: '`GATEWAY_API_KEY`',
    meaning:
      'Bearer key, or a function that returns it, called for each attempt; `null` if [your own server](your-own-server.md) adds the key',
    more: "If it is missing, calls reject and creating the client doesn't. A function is called once more after a 401. Quotes and `Bearer ` around a key are removed with a warning.",
  },
  baseURL: {
    type: 'string',
    default: '`GATEWAY_BASE_URL`',
    meaning:
      '[URL of the gateway](gateways.md#base-urls), with or without a version. In a browser, also a path such as `/api`',
    more: 'There is no default host.',
  },
  gateway: {
    type: '`"auto"`, a name or a profile',
    default: '`GATEWAY_PROFILE` or `"auto"`',
    meaning: '[Kind of gateway](gateways.md)',
  },
  organization: { type: 'string', meaning: 'Sent as the header `openai-organization`' },
  project: { type: 'string', meaning: 'Sent as the header `openai-project`' },
  maxRetries: {
    type: '0 to 100',
    meaning: 'Number of retries per call, as its [charge class](retries-and-charges.md) allows',
    more: '`0` turns retries off; a request that a gateway rejected because of its format is still sent once in another one, uncharged.',
  },
  timeout: {
    type: ms,
    meaning:
      'Limits one attempt: until the end of the response, the headers of a stream, or the first byte of a download. In waits, it limits the whole wait, with its submission if there is one; `null` for none',
    more: 'Gateways finish and bill a call whose client has disconnected, so only reads are repeated after it.',
  },
  firstByteTimeout: {
    type: ms,
    meaning: "Limits the time from a stream's headers to its first byte",
  },
  idleTimeout: {
    type: ms,
    meaning: 'Limits the time without data in a stream or download; heartbeats reset it',
  },
  chunkTimeout: {
    type: ms,
    meaning: "Limits the time without an event in a stream; heartbeats don't reset it",
  },
  totalTimeout: {
    type: ms,
    meaning:
      'Limits a request with all its attempts, until the end of the response or stream, or of the task of an image',
    more: 'It includes the pauses between attempts, the wait for `limits` and for a ledger.',
  },
  retryUnknownOutcome: {
    type: 'boolean',
    default: 'by operation',
    meaning:
      'Decides whether to [retry after an unknown outcome](retries-and-charges.md#change-the-rules); `true` may charge twice',
    more: '`false` applies the rule of images and videos to every call.',
  },
  idempotency: {
    type: '`{ header, honored }`',
    meaning: 'Sends an [idempotency key](retries-and-charges.md#change-the-rules)',
    more: 'It also repeats calls with an unknown outcome, images and videos too: a gateway that ignores the header then charges twice. [Test it first](retries-and-charges.md#change-the-rules).',
  },
  idempotencyKey: {
    type: '1 to 255 visible ASCII characters',
    default: '`callId`',
    meaning: 'The idempotency key of the call',
  },
  fallback: {
    type: 'list of models',
    meaning: '[Models to request](rate-limits.md#fallbacks) if the first cannot answer',
    more: 'Of metered calls, both models may be billed after an unknown outcome.',
  },
  fallbackOn: { type: 'list of words', meaning: 'The reasons to request the next model' },
  onFallback: { type: callback, meaning: 'Called before the next model is requested' },
  structuredOutput: {
    type: '`"auto"` or a mode',
    meaning:
      '[How calls with a schema request JSON](structured-output.md#models-that-reject-a-schema)',
    more: 'Without an effect in `responses.parse()` and `create()`.',
  },
  onTruncated: {
    type: '`"throw"`, `"warn"`, `"allow"`',
    meaning:
      'Decides what happens if a stream ends without proof that it is complete: throw `StreamTruncatedError`, log a warning, or return it',
    more: '`"warn"` and `"allow"` return a cut response as complete.',
  },
  maxEventBytes: { type: '1024 to 2³⁰', meaning: 'Largest event of a stream, in bytes' },
  maxResponseBytes: {
    type: '1024 to 536870888',
    meaning: 'Largest JSON or text response, in bytes; files and streams are unlimited',
    more: 'Beyond it, the call throws `UnexpectedResponseError`; it may have been charged.',
  },
  partial: {
    type: 'boolean',
    meaning: 'Keeps the response so far in `stream.partial` and `error.partial`',
    more: '`false` keeps nothing, so a stream of any length takes little memory. Responses that are not streamed are kept.',
  },
  validation: {
    type: '`"tolerant"`, `"strict"`, `"off"`',
    meaning:
      "Decides what happens if a response differs from the types: report it to `onDrift`, throw, or don't check",
  },
  onDrift: {
    type: callback,
    meaning: 'Called once for each kind of difference; checks only the first 20 events of a stream',
  },
  bodyFormat: {
    type: '`"form"`, `"json"`',
    default: 'the profile\'s or `"form"`',
    meaning: '[Format of video submissions](video.md#submission-format)',
    more: "Many gateways ignore `seconds` in JSON, and charge for the vendor's default length.",
  },
  budget: {
    type: '`{ limit }`',
    default: '`null`',
    meaning: '[Spending limit](costs.md#a-budget) in US dollars',
    more: 'Also counts calls with an unknown outcome. It is kept in memory: for a limit over restarts, set `spent`.',
  },
  limits: {
    type: 'object',
    meaning: '[Requests and tokens per minute](rate-limits.md), and concurrent requests',
  },
  retryBudget: {
    type: 'integer from 0, or `null`',
    meaning:
      '[Retries that all calls together may make](retries-and-charges.md#retries-of-a-client) while calls fail',
    more: 'A retry takes one, after a timeout two, and five successes give one back.',
  },
  observer: {
    type: 'object or a list',
    meaning: '[Observes](debugging.md#observers) calls, attempts and results',
    more: "An error that it throws is logged, and doesn't change the call.",
  },
  onRequest: {
    type: callback,
    meaning: 'Called before each attempt, without keys',
    more: 'The body contains the prompt.',
  },
  onResponse: { type: callback, meaning: 'Called after the response or failure of an attempt' },
  defaultHeaders: {
    type: 'object, pairs or `Headers`',
    meaning: 'Extra headers; `null` removes one',
  },
  headers: { type: 'object, pairs or `Headers`', meaning: 'Extra headers; `null` removes one' },
  defaultQuery: { type: 'object', meaning: 'Extra query parameters' },
  query: { type: 'object', meaning: 'Extra query parameters' },
  extraBody: {
    type: 'object',
    meaning: 'Extra body fields',
    more: 'They override other fields. The client reads them to recognize [text calls that make pictures](what-you-may-be-charged.md#text-calls-that-make-pictures).',
  },
  signal: {
    type: '`AbortSignal`',
    meaning: 'Cancels the call',
    more: "An abort after the request was sent doesn't stop the gateway: the call may be charged. With a `ledger`, a submission [goes on for up to 30 seconds](shutting-down.md), and the ledger gets its outcome.",
  },
  callId: {
    type: 'string',
    default: 'random',
    meaning: 'Identifies the call in errors, logs and ledgers',
    more: 'With a `ledger` it is required, and belongs to one submission: the same `callId` with other parameters throws `InvalidInputError`, and nothing is sent. Files count only by their field, so new bytes under an old `callId` are the old call.',
  },
  taskTimeout: {
    type: ms,
    meaning:
      'Limits the wait for [images that are made as tasks](images-and-files.md#images-that-are-made-as-tasks)',
  },
  onSubmitted: {
    type: callback,
    meaning: "Receives the task's handle before the first poll",
    more: "It is awaited. If it throws, the call's error has the handle as `ref`.",
  },
  ledger: {
    type: 'ledger',
    meaning:
      'Submits each `callId` once, even after a crash: images and [videos](video.md#ledgers)',
    more: 'Needs `callId`. Without a ledger, a submission whose response is lost leaves no handle.',
  },
  onUnknown: {
    type: '`"fail"`, `"resubmit"`, `"settle"`',
    meaning: 'Decides what happens if the ledger does not know whether a submission was accepted',
    more: '`"resubmit"` may pay twice; `"settle"` submits again only if the usage log proves that nothing was charged.',
  },
  interval: {
    type: 'ms or `{ first, min, max, factor, jitter }`',
    meaning: '[Pause between polls](video.md#polling), in milliseconds',
    more: 'The smallest pause is 250 ms.',
  },
  pollTimeout: { type: ms, meaning: 'Limits one attempt of a poll' },
  maxConsecutiveErrors: {
    type: '0 to 1000',
    meaning: 'Number of polls in a row that may fail temporarily, after their retries',
  },
  onUpdate: { type: callback, meaning: 'Called when a poll found a change' },
  maxPollsPerSecond: {
    type: '0.001 to 100000',
    meaning: 'Limits the polls of all tasks per second',
  },
  concurrency: { type: '1 or more', meaning: 'Number of calls at the same time' },
  batchSize: {
    type: '1 or more',
    meaning: 'Number of inputs per request',
    more: 'Each request is billed by itself.',
  },
  onProgress: {
    type: callback,
    meaning: 'Called after each call, with the numbers of finished, failed and all calls',
  },
  maxChatCompletions: {
    type: '1 to 1000000',
    meaning: 'Limits the completions of a run with tools',
  },
  afterCompletion: { type: callback, meaning: 'Called after each completion and its tools' },
  maxCalls: { type: '1 to 1000000', meaning: 'Limits the requests of a run with functions' },
  onContent: { type: callback, meaning: 'Called with each turn of a run with functions' },
  onUploadProgress: {
    type: callback,
    meaning: 'Called while files are sent, in Node and Deno; other runtimes report only streams',
  },
  variant: {
    type: 'string',
    default: 'the video',
    meaning: 'Names the asset to download, where a gateway has several',
  },
  resultURL: {
    type: 'boolean',
    default: 'true',
    meaning:
      'Fetches a video from the URL in its task, without the key, if the content route fails',
  },
  maxAge: {
    type: ms,
    default: '5000, for prices 600000',
    meaning: 'Maximum age of a cached reading of the account',
  },
  path: { type: 'string', meaning: 'Path of the route' },
  method: { type: 'string', meaning: 'HTTP method' },
  body: { type: 'any', meaning: 'Body of the request' },
  stream: { type: 'boolean', meaning: '`true` if the response is an event stream' },
  fetch: {
    type: callback,
    default: 'global `fetch`',
    meaning: "Another `fetch`, such as undici's",
    more: 'Its errors prove that nothing was sent only if they name the gateway. It sees keys and prompts.',
  },
  fetchOptions: {
    type: 'object',
    meaning: 'Extra options, such as `dispatcher` in Node or `proxy` in Bun',
  },
  logger: {
    type: 'object',
    default: '`console`',
    meaning: '[Logging](debugging.md): `console`, pino, winston, bunyan or consola',
    more: 'An error that it throws is ignored.',
  },
  logLevel: {
    type: 'level',
    default: '`GATEWAY_LOG` or `"warn"`',
    meaning: 'The least severe level that is logged',
    more: '`"info"` logs each attempt, `"debug"` also the gateway\'s error messages, which may quote a prompt.',
  },
  dangerouslyAllowBrowser: {
    type: 'boolean',
    default: '`false`',
    meaning: 'Allows an `apiKey` string in a browser',
    more: 'Every visitor of the page can then read the key.',
  },
};

/** Names of sets of methods, the largest first. */
const places: readonly (readonly [name: string, set: readonly Method[]])[] = [
  ['every call', methods.calls],
  ['every call but waits', methods.requests],
  ['calls with a body', methods.posts],
  ['calls with a model that another one can replace', methods.withFallback],
  ['calls of one request, submissions of one video', methods.keyed],
  ['submissions of images and videos', methods.withLedger],
  ['waits', methods.waits],
  ['`videos.create()` and methods that submit and wait', methods.submissions],
  ['methods that submit and wait', methods.videoRuns],
  ['images', methods.images],
  ['chat, `generate`, speech', methods.texts],
  ['transcription, translation', methods.uploads],
  ['reads', methods.reads],
  ['embeddings', [...methods.embeddings, ...methods.manyEmbeddings]],
  ['calls by path', methods.routes],
  ['waits for images', methods.imageWaits],
  ['waits for videos', [...methods.videoWaits, ...methods.manyWaits]],
  ['account', methods.account],
  ['client', methods.client],
];

function describePlaces(own: readonly Method[]): string {
  let rest = [...own];
  const names: string[] = [];
  for (const [name, set] of places) {
    if (!set.every((method) => rest.includes(method))) continue;
    rest = rest.filter((method) => !set.includes(method));
    names.push(name);
  }
  const isClient = names.at(-1) === 'client';
  const sorted = isClient ? ['client', ...names.slice(0, -1)] : names;
  return [...sorted, ...rest.map((method) => `\`${method}()\``)].join(', ');
}

const mebibyte = 1_048_576;

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => describeValue(item)).join(', ');
  if (typeof value === 'object' && value !== null) {
    const { min, max } = { min: undefined, max: undefined, ...value };
    return `${min} to ${max}`;
  }
  const isSize = typeof value === 'number' && value >= mebibyte && value % mebibyte === 0;
  return isSize ? `${value / mebibyte} MiB` : `\`${JSON.stringify(value)}\``;
}

function acceptsNull({ null: meaning, check }: Option, name: string): boolean {
  if (meaning !== 'value') return false;
  try {
    check(name, null);
    return !/Key$|^gateway$/.test(name) || name === 'apiKey';
  } catch {
    return false;
  }
}

function describeDefault(options: readonly Option[], text: Text): string {
  const [first, ...others] = options;
  if (first?.default === undefined) return text.default ?? '–';
  return [
    describeValue(first.default),
    ...others.map(
      (option) => `${describeValue(option.default)} in ${describePlaces(option.methods)}`,
    ),
  ].join('; ');
}

interface Described {
  readonly type: string;
  readonly where: string;
  readonly default: string;
  readonly meaning: string;
  readonly more: string | undefined;
}

function describe(name: OptionName): Described {
  const entry: Option | readonly Option[] = optionTable[name];
  const options = [entry].flat();
  const text = texts[name];
  const hasNull = /`null`/.test(text.type) || !options.every((option) => acceptsNull(option, name));
  return {
    type: hasNull ? text.type : `${text.type} or \`null\``,
    where: describePlaces(options.flatMap((option) => option.methods)),
    default: describeDefault(options, text),
    meaning: text.meaning,
    more: text.more,
  };
}

export const pageNames = [
  'options-connection',
  'options-charges',
  'options-time',
  'options-tasks',
  'options-results',
] as const satisfies readonly OptionPage[];

function pageOf(name: OptionName): OptionPage {
  const found = pageNames.find((page) => {
    const listed: readonly OptionName[] = optionPages[page];
    return listed.includes(name);
  });
  if (found === undefined) throw new Error(`Add ${name} to a page of docs/tables/options.ts.`);
  return found;
}

/** Every option with a link to its heading, its type and its default. */
export function optionsIndex(): string {
  const rows = optionNames.map((name) => {
    const { type, default: usual } = describe(name);
    return [`[\`${name}\`](${pageOf(name)}.md#${name.toLowerCase()})`, type, usual];
  });
  return toTable(['Name', 'Type', 'Default'], rows);
}

/** The options of a page, with a heading for each. */
export function optionHeadings(page: OptionPage): string {
  return optionPages[page]
    .map((name) => {
      const { type, where, default: usual, meaning, more } = describe(name);
      return [
        `## \`${name}\``,
        [`${meaning}.`, more].filter(Boolean).join(' '),
        [`- Type: ${type}`, `- Default: ${usual}`, `- Where: ${where}`].join('\n'),
      ].join('\n\n');
    })
    .join('\n\n');
}
