import { isObject, parseJSON } from '../../../../answers/objects.ts';
import type { Fetch } from '../../../../options/options.ts';
import type { JsonObject } from '../../../../types.ts';

/** Maximum number of bytes of a response that are kept. */
const longest = 16 * 1024 * 1024;

/** A request of a call and its response. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** The body so far. */
  readonly text: string;
  /** Arrival times of the pieces of the body, in milliseconds after the request. */
  readonly arrivals: readonly number[];
}

/** The requests of a call. */
export interface Recording {
  readonly fetch: Fetch;
  readonly exchanges: readonly Exchange[];
  /** The number of POST requests, with those that received no response. */
  readonly posts: () => number;
}

/** Creates a `fetch` that keeps its exchanges. */
export function recordExchanges(): Recording {
  const exchanges: Exchange[] = [];
  let posts = 0;
  const recording: Fetch = async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    if (method === 'POST') posts += 1;
    const start = performance.now();
    const response = await fetch(input, init);
    const pieces: Uint8Array[] = [];
    const arrivals: number[] = [];
    let kept = 0;
    const { status, headers } = response;
    exchanges.push({
      method,
      url: input instanceof Request ? input.url : new URL(input).href,
      status,
      headers,
      arrivals,
      get text() {
        return Buffer.concat(pieces).toString('utf8');
      },
    });
    if (response.body === null) return response;
    const copy = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        arrivals.push(performance.now() - start);
        kept += bytes.byteLength;
        if (kept <= longest) pieces.push(bytes.slice());
        controller.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(copy), response);
  };
  return { fetch: recording, exchanges, posts: () => posts };
}

/** Returns the body of a response as a JSON object; an empty object if it is something else. */
export function parseBody({ text }: Exchange): JsonObject {
  const value = parseJSON(text);
  return isObject(value) ? value : {};
}

/** Returns whether a response is a stream of events, whatever its content type says. */
export const isEvents = ({ headers, text }: Exchange): boolean =>
  /event-stream/i.test(headers.get('content-type') ?? '') ||
  /^(data|event|:)/m.test(text.slice(0, 2_000));

/** An event stream, read as plainly as possible. */
export interface Events {
  /** The JSON objects of the events. */
  readonly objects: readonly JsonObject[];
  readonly hasDone: boolean;
  readonly lineEnding: 'LF' | 'CRLF' | 'CR';
  /** The first line that belongs to no event. */
  readonly heartbeat: string | undefined;
}

export function readEvents({ text }: Exchange): Events {
  const lines = text.split(/\r\n|\r|\n/);
  const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
  const other = lines.find((line) => line !== '' && !/^(data|event|id|retry)(:|$)/.test(line));
  return {
    objects: data.map((item) => parseJSON(item)).filter(isObject),
    hasDone: data.includes('[DONE]'),
    lineEnding: text.includes('\r\n') ? 'CRLF' : text.includes('\r') ? 'CR' : 'LF',
    heartbeat: other,
  };
}

export const isPost = ({ method }: Exchange): boolean => method === 'POST';
