import { readFileSync, readdirSync } from 'node:fs';
import { createEmulator, type Emulator, type EmulatorOptions } from '../../src/testing/index.ts';

/** A request to a real gateway, and its response. */
export interface Recording {
  readonly name: string;
  /** `true` for common responses; `false` for those of one vendor or one kind of failure. */
  readonly common?: true | undefined;
  readonly request: {
    readonly method: string;
    readonly path: string;
    /** Which key was sent. A valid one when it is missing. */
    readonly key?: 'none' | 'wrong' | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly json?: unknown;
    /** Text fields; `file a.png` means a file of that name. */
    readonly form?: Readonly<Record<string, string>> | undefined;
    readonly text?: string | undefined;
  };
  readonly answer: {
    readonly status: number;
    /** The content type without its parameters. */
    readonly type?: string | undefined;
    /** The received headers of `comparedHeaders`; `null` for a missing id. */
    readonly headers?: Readonly<Record<string, string | null>> | undefined;
    readonly body?: unknown;
    /** The data of an event stream, with the first of several similar events. */
    readonly events?: readonly unknown[] | undefined;
    readonly text?: string | undefined;
    readonly bytes?: number | undefined;
  };
}

/** The state of the account when a response was recorded. */
export interface Setup {
  readonly options?: EmulatorOptions | undefined;
  /**
   * Puts the emulator into this state. If it returns a task id, that id replaces the recorded one in the
   * path.
   */
  readonly prepare?: ((emulator: Emulator, recording: Recording) => unknown) | undefined;
}

const folder = new URL('../fixtures/gateway/', import.meta.url);

/** Every recorded response, by file. */
export function readRecordings(): ReadonlyMap<string, readonly Recording[]> {
  const files = readdirSync(folder).toSorted();
  return new Map(
    files.map((file) => {
      const lines = readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n');
      const recordings = lines.map((line): Recording => JSON.parse(line));
      return [file.replace('.jsonl', ''), recordings];
    }),
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

// Only the values of these fields matter to a client; of all others, their types.
const telling = new Set(
  'type code status object role finish_reason finishReason blockReason modality'.split(' '),
);

function getKind(value: unknown, field: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'empty list' : 'list';
  if (telling.has(field) && !isObject(value)) return JSON.stringify(value);
  if (typeof value !== 'string') return typeof value;
  if (value === '') return 'empty text';
  // The gateway adds the id to its own messages, but not to a vendor's.
  return value.includes('(request id: ') ? 'text with request id' : 'text';
}

type Shape = Map<string, Set<string>>;

/** The kinds of value at every path of a JSON value; the items of a list share one path. */
function collectShape(value: unknown, path = '', field = '', shape: Shape = new Map()): Shape {
  shape.set(path, (shape.get(path) ?? new Set()).add(getKind(value, field)));
  if (Array.isArray(value)) {
    for (const item of value) collectShape(item, `${path}[]`, '', shape);
  } else if (isObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      collectShape(part, path === '' ? name : `${path}.${name}`, name, shape);
    }
  }
  return shape;
}

const inWords = (kinds: ReadonlySet<string> | undefined): string =>
  kinds === undefined ? 'nothing' : [...kinds].toSorted().join(' or ');

function compareShapes(where: string, recorded: unknown, answered: unknown): string[] {
  const [there, here] = [collectShape(recorded), collectShape(answered)];
  return [...new Set([...there.keys(), ...here.keys()])].flatMap((path) => {
    const [real, ours] = [inWords(there.get(path)), inWords(here.get(path))];
    return real === ours ? [] : [`${where} ${path}: ${real} there, ${ours} here`];
  });
}

/** The data of events; other lines are unchanged. */
function parseEvents(body: string): unknown[] {
  const blocks = body.split('\n\n');
  const last = blocks.pop();
  const data = blocks.map((block): unknown => {
    if (!block.startsWith('data: ') || block.includes('\n')) return block;
    return block === 'data: [DONE]' ? '[DONE]' : JSON.parse(block.slice('data: '.length));
  });
  return last === '' ? data : [...data, last];
}

const look = (event: unknown): string =>
  typeof event === 'string'
    ? event
    : [...collectShape(event)].map(([path, kinds]) => path + inWords(kinds)).join();

const withoutRepeats = (events: readonly unknown[]): unknown[] =>
  events.filter((event, at) => at === 0 || look(event) !== look(events[at - 1]));

function compareEvents(recorded: readonly unknown[], body: string): string[] {
  const [there, here] = [withoutRepeats(recorded), withoutRepeats(parseEvents(body))];
  const count = Math.max(there.length, here.length);
  return Array.from({ length: count }, (_, at) =>
    compareShapes(`event ${at + 1}`, there[at], here[at]),
  ).flat();
}

async function compareBodies(
  { body, events, text, bytes }: Recording['answer'],
  answer: Response,
): Promise<string[]> {
  if (events !== undefined) return compareEvents(events, await answer.text());
  if (body !== undefined) {
    const answered = await answer.text();
    return compareShapes('body', body, answered.startsWith('{') ? JSON.parse(answered) : answered);
  }
  const size = (await answer.arrayBuffer()).byteLength;
  const recorded = text?.length ?? bytes;
  const isAlike = recorded === undefined || (recorded === 0) === (size === 0);
  return isAlike ? [] : [`body: ${recorded} bytes there, ${size} here`];
}

const isPresent = (value: string): string => (value === '' ? 'empty' : 'present');

/** JSON with sorted fields. */
const sorted = (json: string): string =>
  JSON.stringify(Object.entries(Object(JSON.parse(json))).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const asSent = (value: string): string => value;

/** The headers that a client or a browser reads, with the part of their value that has to agree. */
const comparedHeaders: readonly (readonly [name: string, part: (value: string) => string])[] = [
  ['x-oneapi-request-id', isPresent],
  ['x-new-api-version', isPresent],
  ['x-new-api-other-ratios', sorted],
  ['retry-after', isPresent],
  ['location', asSent],
  ['cache-control', asSent],
  ['x-accel-buffering', asSent],
  ['accept-ranges', asSent],
  ['etag', isPresent],
  ['last-modified', isPresent],
];

/** The headers of every response, recorded only if one is missing. */
const usual = { 'x-oneapi-request-id': 'an id', 'x-new-api-version': 'a version' };

/** Headers compared if the request has an origin. */
const corsHeaders = [
  'allow-origin',
  'allow-methods',
  'allow-headers',
  'allow-credentials',
  'max-age',
].map((name) => [`access-control-${name}`, asSent] as const);

function compareHeaders({ request, answer }: Recording, response: Response): string[] {
  const recorded: Record<string, string | null> = { ...usual, ...answer.headers };
  const compared = [
    ...comparedHeaders,
    ...(request.headers?.['origin'] === undefined ? [] : corsHeaders),
  ];
  return compared.flatMap(([name, part]) => {
    const comparable = (value: string | null | undefined): string =>
      value === null || value === undefined ? 'nothing' : part(value);
    const real = comparable(recorded[name]);
    const ours = comparable(response.headers.get(name));
    return real === ours ? [] : [`header ${name}: ${real} there, ${ours} here`];
  });
}

function toBody({ json, form, text }: Recording['request']): BodyInit | undefined {
  if (form === undefined) return text ?? (json === undefined ? undefined : toText(json));
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    const file = /^file (.*)$/.exec(value)?.[1];
    if (file === undefined) data.set(name, value);
    else data.set(name, new File(['some bytes'], file));
  }
  return data;
}

// Requests other than JSON are recorded as text.
const toText = (json: unknown): string => (typeof json === 'string' ? json : JSON.stringify(json));

function toRequest(emulator: Emulator, recorded: Recording['request'], taskId: unknown): Request {
  const { method, path, key, json } = recorded;
  const headers = new Headers(json === undefined ? {} : { 'content-type': 'application/json' });
  if (key !== 'none') {
    headers.set('authorization', `Bearer ${key === 'wrong' ? 'sk-wrong' : emulator.apiKey}`);
  }
  for (const [name, value] of Object.entries(recorded.headers ?? {})) headers.set(name, value);
  const asked = typeof taskId === 'string' ? path.replace(/task_\w{32}/, taskId) : path;
  const body = toBody(recorded) ?? null;
  return new Request(emulator.baseURL + asked, { method, headers, body, redirect: 'manual' });
}

/** Sends a recorded request to an emulator. Returns how the response differs from the recorded one. */
export async function replay(recording: Recording, setup: Setup): Promise<readonly string[]> {
  const emulator = createEmulator({ videoDuration: 0, ...setup.options });
  const taskId = await setup.prepare?.(emulator, recording);
  const request = toRequest(emulator, recording.request, taskId);
  const answer = await emulator.fetch(request);
  const { status, type = 'none' } = recording.answer;
  const answeredType = answer.headers.get('content-type')?.split(';')[0] ?? 'none';
  return [
    ...(answer.status === status ? [] : [`status: ${status} there, ${answer.status} here`]),
    ...(answeredType === type ? [] : [`type: ${type} there, ${answeredType} here`]),
    ...compareHeaders(recording, answer),
    ...(await compareBodies(recording.answer, answer)),
  ];
}
