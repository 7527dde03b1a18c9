import { memoryLedger } from '../../src/tasks/ledger.ts';
import { vi } from 'vitest';
import { type Gateway, responseFormat, tool } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { collect, scripted } from './clients.ts';
import { never } from './failures.ts';

/** Secrets of a request, which no error may contain. */
export const canaries = {
  key: 'sk-canary/0123456789',
  prompt: 'the prompt canary',
  query: 'query-canary',
  header: 'second-key/0123456789',
  parameter: 'third-key/0123456789',
} as const;

type Answer = (request: Request) => Response | Error | Promise<Response>;

const isDown = (): Promise<never> => Promise.reject(new Error('The database is down.'));

/** A situation that leads to an error of a class. */
export interface Situation {
  /** The class of the call's error. */
  readonly name: string;
  readonly how: string;
  readonly answers: readonly Answer[];
  readonly call: (client: Gateway) => PromiseLike<unknown>;
}

/** Everything of a request that a gateway may quote, except the prompt. */
function echo({ headers, url }: Request): string {
  const parameter = new URL(url).searchParams.get('key');
  const others = `${headers.get('x-api-key')} and ${parameter}`;
  return `You sent ${headers.get('authorization')} and ${others} to ${url} (request id: r-1)`;
}

function errorAnswer(status: number, message = ''): Answer {
  return (request) => {
    const text = `${message} ${echo(request)}`;
    const error = { message: text, type: 'e', code: echo(request), param: echo(request) };
    const headers = { 'x-echo': request.headers.get('authorization') ?? '' };
    return Response.json({ error: { ...error, sent: [text] } }, { status, headers });
  };
}

const events =
  (...list: readonly ((request: Request) => unknown)[]): Answer =>
  (request) => {
    const data = list.map((event) => `data: ${JSON.stringify(event(request))}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream', 'x-echo': echo(request) };
    return new Response(data, { headers });
  };

/** A response whose body is cut with an error that names the URL, as in Bun. */
const cut =
  (text: string, type: string): Answer =>
  ({ url }) => {
    const problem = Object.assign(new TypeError('closed'), { code: 'ECONNRESET', path: url });
    let isSent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isSent) controller.error(problem);
        else controller.enqueue(new TextEncoder().encode(text));
        isSent = true;
      },
    });
    return new Response(body, { headers: { 'content-type': type } });
  };

const { prompt } = canaries;
const messages = [{ role: 'user' as const, content: prompt }];
const model = 'm';
const chat = (client: Gateway) => client.chat.completions.create({ model, messages });
const stream = async (client: Gateway) =>
  collect(await client.chat.completions.create({ model, messages, stream: true }));
const draw = (client: Gateway) => client.images.generate({ model, prompt });
const film = (client: Gateway) => client.videos.create({ model, prompt });
const speak = (client: Gateway) =>
  client.audio.speech.create({ model, input: prompt, voice: 'alloy' });
const wait = (client: Gateway) => client.videos.wait('task-1', { timeout: 60_000 });
const load = (client: Gateway) => client.videos.downloadContent('task-1');
const parse = (client: Gateway) =>
  client.chat.completions.parse({
    model,
    messages,
    response_format: responseFormat({ type: 'object' }, 'thing'),
  });

/** A signal that is aborted soon, with fake timers. */
function abortSoon(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 5);
  return controller.signal;
}

function completion(content: string, reason: string): Answer {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }];
  return () => Response.json({ id: 'c', choices });
}

const chunk = () => ({ choices: [{ index: 0, delta: { content: 'Hel' } }] });
const task =
  (status: string, fields: object = {}): Answer =>
  () =>
    Response.json({ id: 'task-1', status, ...fields });

const imageTask: Answer = ({ headers }) =>
  Response.json({ task_id: 'task-1', note: headers.get('authorization') });

/** A function with fields. */
function withFields(fields: object): unknown {
  return Object.assign(() => undefined, fields);
}

function fail(): never {
  throw new Error('Nothing may be asked.');
}

/** Errors thrown by the fetch of each runtime, and by one that quotes the request. */
const thrown: Readonly<Record<string, Answer>> = {
  Node: () =>
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }),
    }),
  Bun: ({ url }) =>
    Object.assign(new TypeError('closed'), { code: 'ECONNRESET', path: url, errno: 0 }),
  Deno: ({ url }) =>
    new TypeError('fetch failed', {
      cause: new Error(`error sending request for url (${url}): client error (SendRequest)`),
    }),
  'a careless library': (request) =>
    Object.assign(new TypeError('failed', { cause: { config: [...request.headers] } }), {
      code: 'ECONNRESET',
      request,
    }),
  'a library that keeps it on a function': (request) =>
    Object.assign(new TypeError('failed'), {
      retry: withFields({ request: [...request.headers] }),
    }),
  'a library that throws a function': (request) => {
    throw withFields({ request: [...request.headers], url: request.url });
  },
  'a library that throws a proxy': () => {
    throw new Proxy(new Error('x'), new Proxy({}, { get: fail }));
  },
  'a library that throws a proxy that is revoked': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    throw Object.assign(new Error('x'), { errors: proxy, cause: proxy });
  },
  'a library that tells all in its text': (request) => new Error(`Cannot send: ${echo(request)}`),
};

function inStatus(name: string, status: number): Situation {
  return { name, how: `status ${status}`, answers: [errorAnswer(status)], call: draw };
}

/** At least one situation for every error class, with a gateway that quotes requests. */
export const situations: readonly Situation[] = [
  inStatus('BadRequestError', 400),
  inStatus('AuthenticationError', 401),
  inStatus('PaymentRequiredError', 402),
  inStatus('PermissionDeniedError', 403),
  inStatus('NotFoundError', 404),
  inStatus('ConflictError', 409),
  inStatus('RequestTooLargeError', 413),
  inStatus('UnprocessableEntityError', 422),
  inStatus('RateLimitError', 429),
  inStatus('InternalServerError', 500),
  inStatus('InternalServerError', 503),
  inStatus('APIError', 418),
  {
    name: 'InternalServerError',
    how: 'a page of a proxy',
    answers: [
      (request) =>
        new Response(`<html><title>502 ${echo(request)}</title>${echo(request)}`, { status: 502 }),
    ],
    call: chat,
  },
  {
    name: 'BadRequestError',
    how: 'JSON whose slashes are escaped',
    answers: [
      (request) => {
        const text = JSON.stringify({ error: { message: echo(request) } });
        return new Response(text.replaceAll('/', String.raw`\/`), { status: 400 });
      },
    ],
    call: chat,
  },
  {
    name: 'BadRequestError',
    how: 'JSON in a text, with escapes',
    answers: [
      () => {
        const url = String.raw`https:\/\/a.test\/b?c=1\u0026signature=${canaries.query}`;
        return Response.json(
          { error: { message: `Upstream said {"url":"${url}"}.` } },
          { status: 400 },
        );
      },
    ],
    call: chat,
  },
  ...Object.entries(thrown).map(([how, answer]) => ({
    name: 'APIConnectionError',
    how: `what ${how} throws`,
    answers: [answer],
    call: draw,
  })),
  { name: 'APIConnectionTimeoutError', how: 'a hang', answers: [never], call: draw },
  {
    name: 'APIUserAbortError',
    how: 'an abort',
    answers: [never],
    call: (client) => client.images.generate({ model, prompt }, { signal: abortSoon() }),
  },
  {
    name: 'APIUserAbortError',
    how: 'an abort of a stream',
    answers: [() => new Response(new ReadableStream())],
    call: async (client) =>
      collect(
        await client.chat.completions.create(
          { model, messages, stream: true },
          { signal: abortSoon() },
        ),
      ),
  },
  {
    name: 'UnexpectedRedirectError',
    how: 'a redirect to a signed URL',
    answers: [
      ({ url }) => new Response(null, { status: 303, headers: { location: `${url}&x=1` } }),
    ],
    call: draw,
  },
  {
    name: 'APIConnectionError',
    how: 'a signed URL that cannot be reached',
    answers: [
      ({ url }) => new Response(null, { status: 302, headers: { location: `${url}&x=1` } }),
      thrown['Bun'] ?? never,
    ],
    call: load,
  },
  {
    name: 'UnexpectedResponseError',
    how: 'a page with status 200',
    answers: [(request) => new Response(`<html>${request.headers.get('authorization')}`)],
    call: draw,
  },
  {
    name: 'UnexpectedResponseError',
    how: 'text with status 200',
    answers: [(request) => new Response(`Hello ${request.headers.get('authorization')}`)],
    call: chat,
  },
  {
    name: 'UnexpectedResponseError',
    how: 'a body that is cut',
    answers: [cut('{"id":', 'application/json')],
    call: draw,
  },
  {
    name: 'UnexpectedResponseError',
    how: 'a shape that strict validation refuses',
    answers: [
      ({ headers }) => Response.json({ id: 7, choices: [], sent: headers.get('authorization') }),
    ],
    call: (client) => client.chat.completions.create({ model, messages }, { validation: 'strict' }),
  },
  {
    name: 'UnexpectedResponseError',
    how: 'a page instead of sound',
    answers: [(request) => new Response(`<html>${request.headers.get('authorization')}`)],
    call: speak,
  },
  {
    name: 'APIError',
    how: 'an error with status 200',
    answers: [(request) => Response.json({ error: { message: echo(request) } })],
    call: chat,
  },
  {
    name: 'APIError',
    how: 'an error with status 200 instead of sound',
    answers: [(request) => Response.json({ error: { message: echo(request) } })],
    call: speak,
  },
  {
    name: 'APIError',
    how: 'an error with status 200 on a route that is not documented',
    answers: [(request) => Response.json({ error: { message: echo(request) } })],
    call: (client) => client.post('/v1/x', { body: { prompt } }),
  },
  {
    name: 'ContentNotReadyError',
    how: 'a task that is not completed',
    answers: [errorAnswer(400, 'the task is not completed yet')],
    call: load,
  },
  {
    name: 'ContentUnavailableError',
    how: 'no content and a URL that may not be fetched',
    answers: [
      errorAnswer(403),
      () => Response.json({ id: 'task_1', status: 'completed', url: 'https://127.0.0.1/v.mp4' }),
    ],
    call: load,
  },
  { name: 'ContentExpiredError', how: 'status 410', answers: [errorAnswer(410)], call: load },
  {
    name: 'StreamError',
    how: 'an error event',
    answers: [events(chunk, (request) => ({ error: { message: echo(request) } }))],
    call: stream,
  },
  {
    name: 'StreamTruncatedError',
    how: 'a stream that ends early',
    answers: [events(chunk)],
    call: stream,
  },
  {
    name: 'StreamTruncatedError',
    how: 'a stream that is cut',
    answers: [cut(`data: ${JSON.stringify(chunk())}\n\n`, 'text/event-stream')],
    call: stream,
  },
  {
    name: 'StreamTruncatedError',
    how: 'a stream that breaks with a proxy',
    answers: [
      () => {
        const problem = new Proxy(new Error('x'), new Proxy({}, { get: fail }));
        const body = new ReadableStream({ start: (source) => source.error(problem) });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    ],
    call: stream,
  },
  {
    name: 'StreamTimeoutError',
    how: 'a stream that is silent',
    answers: [
      () =>
        new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    ],
    call: async (client) =>
      collect(
        await client.chat.completions.create(
          { model, messages, stream: true },
          { firstByteTimeout: 5 },
        ),
      ),
  },
  {
    name: 'VideoFailedError',
    how: 'a task that failed',
    answers: [
      ({ headers }) =>
        Response.json({
          id: 'task-1',
          status: 'failed',
          error: { message: `Bad key ${headers.get('authorization')}` },
        }),
    ],
    call: wait,
  },
  {
    name: 'VideoFailedError',
    how: 'a reason with a signed URL',
    answers: [
      task('failed', {
        error: { message: `Cannot read https://a.test/b?signature=${canaries.query}.`, code: 'e' },
      }),
    ],
    call: wait,
  },
  {
    name: 'VideoWaitTimeoutError',
    how: 'a task that lasts',
    answers: [task('queued')],
    call: wait,
  },
  {
    name: 'VideoWaitAbortedError',
    how: 'an abort of a wait',
    answers: [task('queued')],
    call: (client) => client.videos.wait('task-1', { signal: abortSoon() }),
  },
  {
    name: 'VideoWaitError',
    how: 'polls that fail',
    answers: [errorAnswer(403)],
    call: wait,
  },
  {
    name: 'VideoSubmitUnknownError',
    how: 'a lost answer',
    answers: [thrown['Bun'] ?? never],
    call: film,
  },
  { name: 'VideoSubmitUnknownError', how: 'an error', answers: [errorAnswer(500)], call: film },
  {
    name: 'LedgerError',
    how: 'a ledger that cannot be reached',
    answers: [],
    call(client) {
      const ledger = { claim: isDown, accept: isDown, finish: isDown, entry: isDown };
      return client.videos.create({ model, prompt }, { ledger, callId: 'job-1' });
    },
  },
  {
    name: 'BudgetError',
    how: 'no price that could be kept within the budget',
    answers: [errorAnswer(404)],
    call: (client) => draw(client.withOptions({ budget: { limit: 1 } })),
  },
  {
    name: 'UnsupportedByGatewayError',
    how: 'a gateway without books',
    answers: [errorAnswer(404)],
    call: (client) => client.account.charges(),
  },
  {
    name: 'UsageLogLimitError',
    how: 'books that were read too often',
    answers: [errorAnswer(429)],
    call: (client) => client.account.charges(),
  },
  {
    name: 'ImageFailedError',
    how: 'an image task that failed',
    answers: [
      imageTask,
      ({ headers }) =>
        Response.json({
          id: 'task-1',
          status: 'failed',
          error: { message: `Bad prompt ${headers.get('authorization')}` },
        }),
    ],
    call: draw,
  },
  {
    name: 'ImageWaitError',
    how: 'an image task that no route knows',
    answers: [imageTask, errorAnswer(405)],
    call: draw,
  },
  {
    name: 'ImageWaitTimeoutError',
    how: 'an image task that lasts',
    answers: [imageTask, task('queued')],
    call: draw,
  },
  {
    name: 'ImageWaitAbortedError',
    how: 'an abort of a wait for images',
    answers: [task('queued')],
    call: (client) => client.images.wait('task-1', { signal: abortSoon() }),
  },
  {
    name: 'ImageSubmitUnknownError',
    how: 'images whose first call had no answer',
    answers: [errorAnswer(500)],
    async call(client) {
      const options = { ledger: memoryLedger(), callId: 'job-1' };
      await client.images.generate({ model, prompt }, options).catch(() => {});
      return client.images.generate({ model, prompt }, options);
    },
  },
  {
    name: 'VideoSubmitResponseError',
    how: 'an answer that strict validation refuses',
    answers: [task('queued', { progress: {} })],
    call: (client) => client.videos.create({ model, prompt }, { validation: 'strict' }),
  },
  {
    name: 'PartialEmbeddingsError',
    how: 'a request of several that failed',
    answers: [errorAnswer(400)],
    call: (client) => client.embeddings.createMany({ model, input: [prompt] }),
  },
  {
    name: 'ResponseFailedError',
    how: 'a response that failed',
    answers: [
      () => Response.json({ object: 'response', status: 'failed', output: [], usage: null }),
    ],
    call: (client) => client.responses.create({ model: 'm', input: 'Hello' }),
  },
  {
    name: 'InvalidOutputError',
    how: 'an answer that is not JSON',
    answers: [completion('Hello', 'stop')],
    call: parse,
  },
  {
    name: 'LengthFinishReasonError',
    how: 'an answer that was cut',
    answers: [completion('{', 'length')],
    call: parse,
  },
  {
    name: 'ContentFilterFinishReasonError',
    how: 'an answer that was filtered',
    answers: [completion('', 'content_filter')],
    call: parse,
  },
  {
    name: 'FunctionCallFinishReasonError',
    how: 'a function call that the model wrote wrongly',
    answers: [
      () =>
        Response.json({
          candidates: [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL', content: {} }],
        }),
    ],
    call: (client) =>
      client.generate.runTools({
        model,
        contents: prompt,
        functions: [tool({ name: 'look', execute: () => 'seen' })],
      }),
  },
  {
    name: 'InvalidInputError',
    how: 'a parameter that cannot work',
    answers: [never],
    call: (client) => client.images.generate({ model: '', prompt }),
  },
  {
    name: 'InvalidInputError',
    how: 'a header that cannot be sent',
    answers: [never],
    call: (client) =>
      client.images.generate({ model, prompt }, { headers: { 'x-a': `${canaries.key}\nx` } }),
  },
];

/** Makes the call of a situation in fake time. Every URL has a secret query. */
export async function errorOf(
  { answers, call }: Situation,
  options: GatewayOptions = {},
): Promise<unknown> {
  const { client } = scripted(answers, {
    apiKey: canaries.key,
    defaultQuery: { signature: canaries.query, key: canaries.parameter },
    defaultHeaders: { 'x-api-key': canaries.header },
    timeout: 1_000,
    maxRetries: 0,
    ...options,
  });
  const ended = Promise.resolve(call(client)).then(
    () => undefined,
    (error: unknown) => error,
  );
  await vi.runAllTimersAsync();
  return ended;
}
