/**
 * Writes the table of the guide "Options" from `src/options/option-table.ts`, which has the names, methods and
 * defaults. Only types, meanings and defaults from the environment are written here.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Method, methods } from '../src/options/methods.ts';
import { isName } from '../src/options/option-names.ts';
import { type Option, type OptionName, optionTable } from '../src/options/option-table.ts';

const page = path.join(import.meta.dirname, 'guides', 'options.md');
const [start, end] = ['<!-- options:start -->', '<!-- options:end -->'];

interface Text {
  /** The type without `null`. */
  readonly type: string;
  readonly meaning: string;
  /** The default of an option for which the table has none. */
  readonly default?: string;
}

const ms = 'ms';
const callback = 'function';

const texts: Readonly<Record<OptionName, Text>> = {
  apiKey: {
    type: 'string or function',
    default: '`GATEWAY_API_KEY`',
    meaning:
      'Bearer key, or a function that returns it, called for each attempt; `null` if [your own server](your-own-server.md) adds the key',
  },
  baseURL: {
    type: 'string',
    default: '`GATEWAY_BASE_URL`',
    meaning:
      '[URL of the gateway](gateways.md#base-urls), with or without a version. In a browser, also a path such as `/api`',
  },
  gateway: {
    type: '`"auto"`, a name or a profile',
    default: '`GATEWAY_PROFILE` or `"auto"`',
    meaning: '[Kind of gateway](gateways.md)',
  },
  organization: { type: 'string', meaning: 'Header `openai-organization`' },
  project: { type: 'string', meaning: 'Header `openai-project`' },
  maxRetries: {
    type: '0 to 100',
    meaning: 'Retries per call, as its [charge class](retries-and-charges.md) allows',
  },
  timeout: {
    type: ms,
    meaning:
      'Limit of one attempt: until the end of the response, the headers of a stream, or the first byte of a download. In waits, the limit of the whole wait, with its submission if there is one; `null` for none',
  },
  firstByteTimeout: { type: ms, meaning: "From a stream's headers to its first byte" },
  idleTimeout: {
    type: ms,
    meaning: 'Longest time without data in a stream or download; heartbeats reset it',
  },
  chunkTimeout: {
    type: ms,
    meaning: "Longest time without an event in a stream; heartbeats don't reset it",
  },
  totalTimeout: {
    type: ms,
    meaning:
      'One request with all its attempts, until the end of the response or stream, or of the task of an image',
  },
  retryUnknownOutcome: {
    type: 'boolean',
    default: 'by operation',
    meaning:
      'Whether to [retry after an unknown outcome](retries-and-charges.md#change-the-rules); `true` may charge twice',
  },
  idempotency: {
    type: '`{ header, honored }`',
    meaning: 'Sends an [idempotency key](retries-and-charges.md#change-the-rules)',
  },
  idempotencyKey: {
    type: '1 to 255 visible ASCII characters',
    default: '`callId`',
    meaning: 'That key',
  },
  fallback: {
    type: 'list of models',
    meaning: '[Models to request](rate-limits.md#fallbacks) if the first cannot answer',
  },
  fallbackOn: { type: 'list of words', meaning: 'The reasons to request the next model' },
  onFallback: { type: callback, meaning: 'Called before the next model is requested' },
  structuredOutput: {
    type: '`"auto"` or a mode',
    meaning:
      '[How calls with a schema request JSON](structured-output.md#models-that-reject-a-schema)',
  },
  onTruncated: {
    type: '`"throw"`, `"warn"`, `"allow"`',
    meaning: 'If a stream ends without proof that it is complete',
  },
  maxEventBytes: { type: '1024 to 2³⁰', meaning: 'Largest event of a stream' },
  maxResponseBytes: {
    type: '1024 to 536870888',
    meaning: 'Largest JSON or text response; files and streams are unlimited',
  },
  partial: {
    type: 'boolean',
    meaning: 'Keeps the response so far in `stream.partial` and `error.partial`',
  },
  validation: {
    type: '`"tolerant"`, `"strict"`, `"off"`',
    meaning: "If a response differs from the types: report it, throw, or don't check",
  },
  onDrift: {
    type: callback,
    meaning: 'Called once for each kind of difference; checks only the first 20 events of a stream',
  },
  bodyFormat: {
    type: '`"form"`, `"json"`',
    default: 'the profile\'s or `"form"`',
    meaning: '[Format of video submissions](video.md#submission-format)',
  },
  budget: {
    type: '`{ limit }`',
    default: '`null`',
    meaning: '[Spending limit](costs.md#a-budget) in US dollars',
  },
  limits: {
    type: 'object',
    meaning: '[Requests and tokens per minute](rate-limits.md), and concurrent requests',
  },
  retryBudget: {
    type: 'integer from 0, or `null`',
    meaning:
      '[Retries that all calls together may make](retries-and-charges.md#retries-of-a-client) while calls fail',
  },
  observer: {
    type: 'object or a list',
    meaning: '[Observes](debugging.md#observers) calls, attempts and results',
  },
  onRequest: { type: callback, meaning: 'Called before each attempt, without keys' },
  onResponse: { type: callback, meaning: 'Called after the response or failure of an attempt' },
  defaultHeaders: {
    type: 'object, pairs or `Headers`',
    meaning: 'Extra headers; `null` removes one',
  },
  headers: { type: 'object, pairs or `Headers`', meaning: 'Extra headers; `null` removes one' },
  defaultQuery: { type: 'object', meaning: 'Extra query parameters' },
  query: { type: 'object', meaning: 'Extra query parameters' },
  extraBody: { type: 'object', meaning: 'Extra body fields' },
  signal: { type: '`AbortSignal`', meaning: 'Cancels the call' },
  callId: {
    type: 'string',
    default: 'random',
    meaning: 'Id of the call in errors, logs and ledgers',
  },
  taskTimeout: {
    type: ms,
    meaning:
      'Limit of the wait for [images that are made as tasks](images-and-files.md#images-that-are-made-as-tasks)',
  },
  onSubmitted: { type: callback, meaning: "Receives the task's handle before the first poll" },
  ledger: {
    type: 'ledger',
    meaning:
      'Submits each `callId` once, even after a crash: images and [videos](video.md#ledgers)',
  },
  onUnknown: {
    type: '`"fail"`, `"resubmit"`, `"settle"`',
    meaning: 'If the ledger does not know whether a submission was accepted',
  },
  interval: {
    type: 'ms or `{ first, min, max, factor, jitter }`',
    meaning: '[Pause between polls](video.md#polling), in milliseconds',
  },
  pollTimeout: { type: ms, meaning: 'Limit of one attempt of a poll' },
  maxConsecutiveErrors: {
    type: '0 to 1000',
    meaning: 'Polls in a row that may fail temporarily, after their retries',
  },
  onUpdate: { type: callback, meaning: 'Called when a poll found a change' },
  maxPollsPerSecond: { type: '0.001 to 100000', meaning: 'Polls of all tasks per second' },
  concurrency: { type: '1 or more', meaning: 'Calls at the same time' },
  batchSize: { type: '1 or more', meaning: 'Inputs per request' },
  onProgress: { type: callback, meaning: 'Called after each call' },
  maxChatCompletions: { type: '1 to 1000000', meaning: 'Completions of a run with tools' },
  afterCompletion: { type: callback, meaning: 'Called after each completion and its tools' },
  maxCalls: { type: '1 to 1000000', meaning: 'Requests of a run with functions' },
  onContent: { type: callback, meaning: 'Called with each turn of a run with functions' },
  onUploadProgress: { type: callback, meaning: 'Upload progress, in Node and Deno' },
  variant: { type: 'string', default: 'the video', meaning: 'The asset to download' },
  resultURL: {
    type: 'boolean',
    default: 'true',
    meaning: 'Fetch a video from the URL in its task if the content route fails',
  },
  maxAge: {
    type: ms,
    default: '5000, for prices 600000',
    meaning: 'Maximum age of a cached result',
  },
  path: { type: 'string', meaning: 'Path of the route' },
  method: { type: 'string', meaning: 'HTTP method' },
  body: { type: 'any', meaning: 'Body of the request' },
  stream: { type: 'boolean', meaning: '`true` if the response is an event stream' },
  fetch: {
    type: callback,
    default: 'global `fetch`',
    meaning: "Another `fetch`, such as undici's",
  },
  fetchOptions: {
    type: 'object',
    meaning: 'Extra options, such as `dispatcher` in Node or `proxy` in Bun',
  },
  logger: {
    type: 'object',
    default: '`console`',
    meaning: '[Logging](debugging.md): `console`, pino, winston, bunyan or consola',
  },
  logLevel: {
    type: 'level',
    default: '`GATEWAY_LOG` or `"warn"`',
    meaning: 'The least severe level that is logged',
  },
  dangerouslyAllowBrowser: {
    type: 'boolean',
    default: '`false`',
    meaning: 'Allows an `apiKey` string in a browser',
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

/** Returns the rows of the table, without the padding of the formatter. */
export function optionRows(): string {
  const rows = Object.entries<Option | readonly Option[]>(optionTable).map(([name, entry]) => {
    if (!isName(name)) throw new Error(`${name} is no option.`);
    const options = [entry].flat();
    const text = texts[name];
    const type = options.every((option) => acceptsNull(option, name))
      ? `${text.type} or \`null\``
      : text.type;
    const where = describePlaces(options.flatMap((option) => option.methods));
    return [`\`${name}\``, where, type, describeDefault(options, text), text.meaning];
  });
  const table = [['Name', 'Where', 'Type', 'Default', 'Meaning'], Array(5).fill('---'), ...rows];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

if (import.meta.main) {
  const guide = await readFile(page, 'utf8');
  const [before, after] = [guide.split(start)[0], guide.split(end)[1]];
  await writeFile(page, `${before}${start}\n\n${optionRows()}\n\n${end}${after}`);
}
