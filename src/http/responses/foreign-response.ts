import { isObject } from '../../answers/objects.ts';
import { requestIdHeaders } from '../../gateways/signs.ts';
import { toBytes } from './chunks.ts';
import type { FailedAttempt } from '../retry.ts';

/** Error code for a `fetch` that returned something that cannot be read. */
export const notAResponse = 'NOT_A_RESPONSE';

type Method = (...parameters: readonly unknown[]) => unknown;

/** Reads a field, whose getter may throw. */
function readField(value: unknown, name: string | symbol): unknown {
  try {
    return isObject(value) ? Reflect.get(value, name) : undefined;
  } catch {
    return undefined;
  }
}

function findMethod(value: unknown, name: string | symbol): Method | undefined {
  const found = readField(value, name);
  return typeof found === 'function'
    ? (...parameters) => Reflect.apply(found, value, parameters)
    : undefined;
}

/** Headers that this package reads, for objects that can't list theirs. */
const usedHeaders = [
  ...requestIdHeaders,
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'location',
  'retry-after',
  'x-should-retry',
];

function listHeaders(value: unknown): readonly (readonly [name: unknown, value: unknown])[] {
  const pairs: (readonly [unknown, unknown])[] = [];
  const list = findMethod(value, Symbol.iterator) && findMethod(value, 'forEach');
  if (list !== undefined) {
    list((header: unknown, name: unknown) => pairs.push([name, header]));
    return pairs;
  }
  const find = findMethod(value, 'get');
  return find === undefined
    ? Object.entries(isObject(value) ? value : {})
    : usedHeaders.map((name) => [name, find(name)]);
}

/** Returns the headers of a response object: those of another class, a `Map`, or fields. */
function toHeaders(value: unknown): Headers {
  if (value instanceof Headers) return value;
  const headers = new Headers();
  for (const [name, entry] of listHeaders(value)) {
    for (const item of Array.isArray(entry) ? entry : [entry]) {
      if (typeof name !== 'string' || !/^(string|number)$/.test(typeof item)) continue;
      try {
        headers.append(name, String(item));
      } catch {
        // Not a header of HTTP, such as the pseudo header ":status".
      }
    }
  }
  return headers;
}

/** Reads the chunks of a body one after the other. */
interface ChunkReader {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Stops reading. */
  return(): unknown;
}

/** Returns a reader of a body that is a stream, whatever its class; `undefined` if it is none. */
function openStream(body: unknown): ChunkReader | undefined {
  const open = findMethod(body, 'getReader') ?? findMethod(body, Symbol.asyncIterator);
  const chunks = open?.();
  const next = findMethod(chunks, 'read') ?? findMethod(chunks, 'next');
  const stop = findMethod(chunks, 'cancel') ?? findMethod(chunks, 'return');
  return next && { next: async () => toResult(await next()), return: () => stop?.() };
}

function toResult(value: unknown): { readonly done: boolean; readonly value: unknown } {
  return { done: readField(value, 'done') === true, value: readField(value, 'value') };
}

/** Methods that read a whole body, in the order in which they are tried. */
const textFirst = ['text', 'arrayBuffer', 'blob', 'json'];
// React Native's `text()` changes the bytes of a file.
const bytesFirst = ['arrayBuffer', 'blob', 'text', 'json'];

/** Returns a reader of a body that can only be read at once; `undefined` if there is none. */
function openWhole(value: unknown, body: unknown, headers: Headers): ChunkReader | undefined {
  const isText = /\b(json|text|xml)\b|event-stream/.test(headers.get('content-type') ?? '');
  const name = (isText ? textFirst : bytesFirst).find((each) => findMethod(value, each));
  const isGiven =
    typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer;
  if (name === undefined && !isGiven) return undefined;
  async function read(): Promise<unknown> {
    if (isGiven || name === undefined) return body;
    const content = await findMethod(value, name)?.();
    if (name === 'json') return JSON.stringify(content);
    return name === 'blob' ? findMethod(content, 'arrayBuffer')?.() : content;
  }
  let isRead = false;
  return {
    async next() {
      if (isRead) return { done: true };
      isRead = true;
      return { value: await read() };
    },
    return: () => undefined,
  };
}

function toWebStream(chunks: ChunkReader): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(toBytes(value, chunks));
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}

type ResponseDetails = Pick<Response, 'status' | 'statusText' | 'headers' | 'url' | 'redirected'>;

function toDetails(value: unknown, status: number, headers: Headers): ResponseDetails {
  const text = readField(value, 'statusText');
  const url = readField(value, 'url');
  return {
    status,
    statusText: typeof text === 'string' ? text : '',
    headers,
    url: typeof url === 'string' ? url : '',
    redirected: readField(value, 'redirected') === true,
  };
}

/** Statuses of responses without a body. */
const bodiless = [204, 205, 304];

/** Creates a response with a body and the details of another one. */
export function createResponse(
  body: ReadableStream<Uint8Array> | null,
  { status, statusText, headers, url, redirected }: ResponseDetails,
): Response {
  const content = bodiless.includes(status) ? null : body;
  const response = new Response(content, { status, statusText, headers });
  // The constructor can't set these two.
  Object.defineProperty(response, 'url', { value: url });
  Object.defineProperty(response, 'redirected', { value: redirected });
  // The `Response` of React Native knows no streams.
  if (content !== null && !(response.body instanceof ReadableStream))
    Object.defineProperty(response, 'body', { value: content });
  return response;
}

/**
 * Returns what any `fetch` resolved with as a `Response` of this runtime.
 *
 * Objects of other classes (node-fetch, whatwg-fetch, React Native, Tauri, mocks) may have a body of another
 * kind, or none besides `text()` and `arrayBuffer()`. Never throws.
 *
 * @param onWhole - Called if the body can only be read at once: the events of a stream then arrive together.
 * @returns A failure if it cannot be read. The gateway has answered by then, so the request is never repeated.
 */
export function toResponse(value: unknown, onWhole?: () => void): Response | FailedAttempt {
  try {
    if (value instanceof Response) {
      const { body, bodyUsed, type } = value;
      const isReadable = body === null || (body instanceof ReadableStream && !body.locked);
      if (isReadable && !bodyUsed && type !== 'error') return value;
    }
    return readResponse(value, onWhole);
  } catch (cause) {
    return { kind: 'undecided', phase: 'sent', code: notAResponse, cause };
  }
}

function readResponse(value: unknown, onWhole?: () => void): Response | FailedAttempt {
  const body = readField(value, 'body');
  const isError = readField(value, 'type') === 'error';
  const isTaken = readField(value, 'bodyUsed') === true || readField(body, 'locked') === true;
  const status = readField(value, 'status');
  if (isError || typeof status !== 'number') throw new TypeError('fetch returned no Response');
  const headers = toHeaders(readField(value, 'headers'));
  const isSuccess = status >= 200 && status < 300;
  if (isTaken && isSuccess) {
    const problem =
      'fetch returned a response whose body was read before; return it unread, or a clone of it.';
    return { kind: 'undecided', phase: 'body', code: notAResponse, status, headers, problem };
  }
  const details = toDetails(value, status, headers);
  if (isTaken) return createResponse(null, details);
  if (body instanceof ReadableStream) return createResponse(body, details);
  const stream = openStream(body);
  const chunks = stream ?? openWhole(value, body, headers);
  if (
    chunks === undefined &&
    body !== null &&
    !findMethod(readField(value, 'headers'), 'forEach')
  ) {
    throw new TypeError('fetch returned no Response');
  }
  if (stream === undefined && chunks !== undefined) onWhole?.();
  return createResponse(chunks ? toWebStream(chunks) : null, details);
}
