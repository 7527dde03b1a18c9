import type { IncomingMessage, ServerResponse } from 'node:http';
import { failures, provenBy } from '../../test/failures.ts';
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

function findFailure(name: string) {
  const found = failures.find((row) => row.name === name);
  if (found === undefined) throw new Error(`test/failures.ts has no failure "${name}".`);
  return found;
}

/** Returns what a failure proves, by the table of failures. */
const proves = (name: string): Pick<Fault, 'verdict'> => ({
  verdict: provenBy(findFailure(name).kind).outcome,
});

async function respond(name: string, { response }: Exchange): Promise<void> {
  const answer = await findFailure(name).wire();
  if (!(answer instanceof Response)) throw new TypeError(`"${name}" is not a response.`);
  const body = await answer.text();
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
}

/** Returns a response of the table of failures, and what it proves. */
const fromTable = (name: string): Pick<Fault, 'verdict' | 'answer'> => ({
  ...proves(name),
  answer: (exchange) => void respond(name, exchange),
});

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
    ...proves('a lost connection'),
    id: 'reset',
    label: 'connection reset after the request',
    answer: ({ request }) => request.socket.resetAndDestroy(),
  },
  {
    ...lost,
    ...proves('a lost connection'),
    id: 'fin',
    label: 'connection closed after the request',
    answer: ({ request }) => request.socket.end(),
  },
  {
    ...lost,
    ...proves('a time limit of the client'),
    id: 'timeout',
    label: 'no answer, time-out of the client',
    clientTimeout: true,
  },
  { ...lost, ...fromTable('500'), id: '500-json', label: '500 with a JSON error' },
  { ...lost, ...fromTable('502 with a page'), id: '502-html', label: '502 with an HTML page' },
  { ...lost, ...fromTable('503 with text'), id: '503-text', label: '503 Service Unavailable' },
  { ...lost, ...fromTable('408 with text'), id: '408-text', label: '408 Request Timeout' },
  { ...lost, ...fromTable('499'), id: '499-json', label: '499 with a JSON error' },
  {
    ...lost,
    id: 'own-fetch',
    label: 'sent, then a fetch of yours fails',
    clientFetch: true,
    answer: good,
  },
  {
    ...began,
    ...proves('200 with a body that is cut'),
    id: '200-cut',
    label: '200, body cut',
    answer: cutBody,
  },
  { ...began, ...fromTable('200 with a page'), id: '200-html', label: '200 with an HTML page' },
  {
    ...began,
    ...fromTable('200 with an error'),
    id: '200-error',
    label: '200 with an error inside',
  },
  { ...began, ...fromTable('200 with {}'), id: '200-nothing', label: '200 with {} for an answer' },
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
    ...proves('a refused connection'),
    id: 'refused-port',
    label: 'connection refused',
    at: 'port',
  },
  {
    ...refused,
    ...fromTable('429 with Retry-After'),
    id: '429-retry-after',
    label: '429 with Retry-After',
  },
  { ...refused, ...fromTable('429 without a body'), id: '429-bare', label: '429 without anything' },
];
