import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';

/** The most that a client can conclude from a fault. */
export type Verdict = 'answered' | 'unknown' | 'not_sent' | 'rejected';

/** A request that was received completely, and how to answer it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** A successful response of the service. */
  readonly good: Answer;
}

/** One way for a paid call to fail. */
export interface Fault {
  readonly id: string;
  readonly label: string;
  readonly verdict: Verdict;
  /**
   * `true` if the work is done before the fault. Each completely received request is then charged, as by
   * services that start working before they respond.
   */
  readonly charged: boolean;
  /** The kind of response that the fault affects. */
  readonly on: 'whole' | 'stream';
  /** The place of the fault: no listener, a connection reset on open, or the response to a request. */
  readonly at: 'port' | 'connection' | 'request';
  /** `true` if a success status was sent, so the request was not rejected. */
  readonly answerBegan: boolean;
  /** `true` to set a time-out on the client. */
  readonly clientTimeout?: boolean;
  /** `true` to pass a `fetch` that sends the request and then throws. */
  readonly clientFetch?: boolean;
  /** Handles a request. By default it gets no response. */
  readonly answer?: (exchange: Exchange) => void;
}

const html = '<!doctype html><html><head><title>Error</title></head><body>Sorry.</body></html>';

const rateLimit = JSON.stringify({
  error: { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' },
});

const serverError = JSON.stringify({
  error: { message: 'Something went wrong.', type: 'server_error', code: null },
});

const cancelled = JSON.stringify({
  error: { message: 'The operation was cancelled.', type: 'upstream_error', code: 499 },
});

function status(
  code: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): (exchange: Exchange) => void {
  return ({ response }) => {
    response.writeHead(code, { 'content-type': contentType, ...headers }).end(body);
  };
}

function good({ response, good: { contentType, body } }: Exchange): void {
  response.writeHead(200, { 'content-type': contentType }).end(body);
}

/** Sends the first half of a whole answer, whose length was announced, and closes the connection. */
function cutBody({ request, response, good: { contentType, body } }: Exchange): void {
  const bytes = Buffer.from(body);
  response.writeHead(200, { 'content-type': contentType, 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
}

/** Sends the first half of a stream's events and closes the connection. */
function cutStream({ request, response, good: { contentType, body } }: Exchange): void {
  const list = Buffer.from(body).toString().split('\n\n');
  const first = list.slice(0, list.length / 2).map((event) => `${event}\n\n`);
  response.writeHead(200, { 'content-type': contentType });
  response.write(first.join(''), () => {
    // The reader gets time to take the events in, as it has on a real network.
    setTimeout(() => request.socket.destroy(), 50);
  });
}

/** The same for every fault whose request is read, worked on, and not answered usably. */
const lost = {
  verdict: 'unknown',
  charged: true,
  on: 'whole',
  at: 'request',
  answerBegan: false,
} as const;
const began = { ...lost, answerBegan: true } as const;
const answered = { ...began, verdict: 'answered' } as const;
const refused = { ...lost, verdict: 'rejected', charged: false } as const;

/** The faults, in the order of the table. The first two are controls: nothing goes wrong. */
export const faults: readonly Fault[] = [
  { ...answered, id: 'none', label: 'no fault', answer: good },
  { ...answered, id: 'none-stream', label: 'no fault, streamed', on: 'stream', answer: good },
  {
    ...lost,
    id: 'reset',
    label: 'connection reset after the request',
    answer: ({ request }) => request.socket.resetAndDestroy(),
  },
  {
    ...lost,
    id: 'fin',
    label: 'connection closed after the request',
    answer: ({ request }) => request.socket.end(),
  },
  { ...lost, id: 'timeout', label: 'no answer, time-out of the client', clientTimeout: true },
  {
    ...lost,
    id: '500-json',
    label: '500 with a JSON error',
    answer: status(500, 'application/json', serverError),
  },
  {
    ...lost,
    id: '502-html',
    label: '502 with an HTML page',
    answer: status(502, 'text/html', html),
  },
  {
    ...lost,
    id: '503-text',
    label: '503 Service Unavailable',
    answer: status(503, 'text/plain', 'Service Unavailable'),
  },
  {
    ...lost,
    id: '408-text',
    label: '408 Request Timeout',
    answer: status(408, 'text/plain', 'Request Timeout'),
  },
  {
    ...lost,
    id: '499-json',
    label: '499 with a JSON error',
    answer: status(499, 'application/json', cancelled),
  },
  {
    ...lost,
    id: 'own-fetch',
    label: 'sent, then a fetch of yours fails',
    clientFetch: true,
    answer: good,
  },
  { ...began, id: '200-cut', label: '200, body cut', answer: cutBody },
  {
    ...began,
    id: '200-html',
    label: '200 with an HTML page',
    answer: status(200, 'text/html', html),
  },
  {
    ...began,
    id: '200-error',
    label: '200 with an error inside',
    answer: status(200, 'application/json', serverError),
  },
  {
    ...began,
    id: '200-nothing',
    label: '200 with {} for an answer',
    answer: status(200, 'application/json', '{}'),
  },
  { ...began, id: 'stream-cut', label: 'stream cut half-way', on: 'stream', answer: cutStream },
  {
    ...lost,
    id: 'reset-on-accept',
    label: 'connection reset when it opens',
    charged: false,
    at: 'connection',
  },
  {
    ...refused,
    id: 'refused-port',
    label: 'connection refused',
    verdict: 'not_sent',
    at: 'port',
  },
  {
    ...refused,
    id: '429-retry-after',
    label: '429 with Retry-After',
    answer: status(429, 'application/json', rateLimit, { 'retry-after': '1' }),
  },
  { ...refused, id: '429-bare', label: '429 without anything', answer: status(429, '', '') },
];
