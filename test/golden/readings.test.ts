import { test } from 'vitest';
import { GatewayError, type Drift, type Gateway } from '../../src/index.ts';
import { recordings, streamOf, textOf, type Recording } from './recordings.ts';
import { shapes, statusWords, type Reader } from './shapes.ts';
import {
  baseURL,
  clientFor,
  expectGolden,
  groupBy,
  inFakedTime,
  inWords,
  isObject,
  plain,
  sectionsOf,
  toJSON,
  valueInWords,
  withAdvice,
  withoutAdvice,
} from './support.ts';

const model = 'm';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const image = new File(['picture'], 'a.png');
const file = new File(['sound'], 'a.mp3');

type Call = (client: Gateway) => PromiseLike<unknown>;

/** Describes a file by its status, type and size. */
async function weigh(answer: PromiseLike<Response>): Promise<unknown> {
  const { status, headers, body } = await answer;
  const { byteLength } = await new Response(body).arrayBuffer();
  return [status, headers.get('content-type'), `${byteLength} bytes`];
}

const readers: Readonly<Record<Reader, Call>> = {
  models: (client) => client.models.list(),
  chat: (client) => client.chat.completions.create({ model, messages }),
  generate: (client) => client.generate.content({ model, contents: 'Hi' }),
  embeddings: (client) => client.embeddings.create({ model, input: ['a', 'b'] }),
  images: (client) => client.images.generate({ model, prompt: 'A boat' }),
  speech: (client) => weigh(client.audio.speech.create({ model, input: 'Hi', voice: 'alloy' })),
  translation: (client) => client.audio.translations.create({ model, file }),
  submission: (client) => client.videos.create({ model, prompt: 'A boat' }),
  video: (client) => client.videos.retrieve('task_1'),
  vendor: (client) => client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: 'task_1' }),
  content: (client) => weigh(client.videos.downloadContent('task_1')),
  any: (client) => client.get('/v1/things'),
};

/** Returns the call of a route. */
const routes: readonly (readonly [route: RegExp, call: Reader | Call])[] = [
  [/^GET \/v1\/models$/, 'models'],
  [/chat\/completions$/, 'chat'],
  [/enerateContent/, 'generate'],
  [/engines\/.*embeddings/, (client) => client.embeddings.createForEngine({ model, input: 'a' })],
  [/embeddings$/, 'embeddings'],
  [/images\/generations$/, 'images'],
  [/images\/edits$/, (client) => client.images.edit({ model, prompt: 'A boat', image })],
  [/audio\/speech$/, 'speech'],
  [/audio\/translations$/, 'translation'],
  [/^POST \/v1\/videos$/, 'submission'],
  [/remix$/, (client) => client.videos.remix('task_0', { prompt: 'A boat' })],
  [/content(\?.*)?$/, 'content'],
  [/^GET \/v1\/videos\/\w+$/, 'video'],
  [/text2video/, 'vendor'],
];

function toCall({ request }: Recording): Call {
  const { method, path } = request;
  const [, found] = routes.find(([route]) => route.test(`${method} ${path}`)) ?? [];
  if (typeof found === 'function') return found;
  if (found !== undefined) return readers[found];
  return method === 'POST' ? (client) => client.post(path) : (client) => client.get(path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error of a response, with the read body. */
function errorInWords(error: unknown): string {
  if (!GatewayError.isInstance(error)) return inWords(error);
  const { code, type, param, requestID, status } = Object(error);
  const said = withoutAdvice(error);
  const known = {
    status: said.startsWith(`${status} `) ? undefined : status,
    requestID: requestID === 'r-1' ? undefined : (requestID ?? null),
  };
  return `${inWords(error)}\n  ${said} ${toJSON({ ...known, code, type, param })}`;
}

/** Values of the getters of a value's class. */
function derivedFrom(value: object): [name: string, inner: unknown][] {
  const prototype: object = Object.getPrototypeOf(value);
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([, property]) => prototype !== Object.prototype && 'get' in property)
    .map(([name]) => [name, Reflect.get(value, name)]);
}

/** Properties that JSON omits, such as the handle of a task. */
function listHidden(value: unknown, sent: unknown): string[] {
  if (!isObject(value)) return [];
  const { id } = value;
  const usual: Readonly<Record<string, unknown>> = {
    _request_id: 'r-1',
    raw: sent,
    ref: { v: 1, kind: 'video', id, baseURL, route: { type: 'openai' } },
  };
  const own = Object.getOwnPropertyNames(value)
    .filter((name) => !Object.keys(value).includes(name) && typeof value[name] !== 'function')
    .map((name) => [name, value[name]] as const);
  return [...own, ...derivedFrom(value)]
    .map(([name, inner]) => [name, valueInWords(plain(inner), usual[name])])
    .filter(([, words]) => words !== 'as sent' && words !== 'undefined')
    .map(([name, words]) => `${name}: ${words?.replace('as sent', 'as usual')}`);
}

const fails = (promise: PromiseLike<unknown>): Promise<boolean> =>
  Promise.resolve(promise).then(
    () => false,
    () => true,
  );

/** The value that a call returns for a response, and its deviations from the schema. */
async function describeReading(
  call: Call,
  text: string | null,
  init: ResponseInit,
): Promise<string> {
  const drifts: Drift[] = [];
  const answer = (): Response => {
    const response = new Response(text, init);
    response.headers.set('x-oneapi-request-id', 'r-1');
    return response;
  };
  const options = { maxRetries: 0, onDrift: (drift: Drift) => void drifts.push(drift) };
  const strictly = clientFor(answer, { maxRetries: 0, validation: 'strict' }).client;
  const reading = Promise.resolve(call(clientFor(answer, options).client)).then(
    (value) => {
      const sent = parsed(text ?? '');
      return [valueInWords(plain(value), sent), ...listHidden(value, sent)];
    },
    (error: unknown) => [errorInWords(error)],
  );
  const lines = [
    ...(await reading),
    ...drifts.map(({ path, expected, received }) => `drift: ${path}: ${expected}, not ${received}`),
  ];
  const isError = await fails(call(clientFor(answer, options).client));
  const isStrictError = await fails(call(strictly));
  const isUsual = isStrictError === (isError || drifts.length > 0);
  return [
    ...lines,
    ...(isUsual ? [] : [`strict mode ${isStrictError ? 'fails' : 'does not fail'}`]),
  ]
    .map((line) => `  ${line}\n`)
    .join('')
    .replaceAll(/\b(task|call)_[a-z0-9]{16,}/gi, '$1_…');
}

const about = `
  What calls give of answers: the value as what differs from the body, or the error, with what was read of
  it, and where the answer is not what was expected ("drift", which is an error in strict mode).
`;

test('every recorded answer', async () => {
  const whole = recordings.filter((recording) => streamOf(recording) === undefined);
  const works = whole.map((recording) => async () => {
    const { name, answer } = recording;
    const { status, type } = answer;
    const text = [204, 205, 304].includes(status) ? null : textOf(answer);
    const headers = type === undefined ? {} : { 'content-type': type };
    return [name, await describeReading(toCall(recording), text, { status, headers })] as const;
  });

  const text = withAdvice(sectionsOf(await inFakedTime(works)));
  await expectGolden('recorded.txt', about, text);
});

test('every shape of an answer', async () => {
  const works = Object.entries(shapes).flatMap(([reader, bodies]) =>
    Object.entries(bodies).map(([name, body]) => async () => {
      const [, call = readers.any] = Object.entries(readers).find(([key]) => key === reader) ?? [];
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return [`${reader}: ${name}`, await describeReading(call, text, {})] as const;
    }),
  );

  const text = withAdvice(sectionsOf(await inFakedTime(works)));
  await expectGolden('shapes.txt', about, text);
});

test('every status of a video', async () => {
  const routesOfTasks: Readonly<Record<string, (status: unknown) => unknown>> = {
    video: (status) => ({ id: 'task_1', status }),
    vendor: (status) => ({ code: 'success', data: { task_id: 'task_1', status } }),
  };
  const works = Object.entries(routesOfTasks).flatMap(([route, make]) =>
    statusWords.map((word) => async () => {
      const call = route === 'video' ? readers.video : readers.vendor;
      const { client } = clientFor(() => Response.json(make(word)), { maxRetries: 0 });
      const { status, raw_status: raw } = Object(
        await Promise.resolve(call(client)).catch(() => ({})),
      );
      const kept = raw === word ? '' : ` (raw ${toJSON(raw)})`;
      return [`${route}: ${status}${kept}`, toJSON(word)] as const;
    }),
  );
  const rows = await inFakedTime(works);
  const groups = groupBy(rows.map(([meaning, word]) => [word, meaning]));
  const lines = groups.map(([meaning, words]) => `${meaning}\n  ${words.join(', ')}\n`);

  await expectGolden('video-statuses.txt', 'What a word for a status means.', lines.join('\n'));
});
