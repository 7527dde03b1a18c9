import { readErrorValue } from '../answers/failure.ts';
import { parseJSON, parseLines } from '../answers/objects.ts';
import { unchecked } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { APIError, APIUserAbortError, UnexpectedResponseError } from '../errors/api-errors.ts';
import type { ResultFormat, GatewayRequest } from '../calls/gateway-request.ts';
import { classifyEvent, findStatus } from '../http/classify.ts';
import { type FailedAttempt, type FailureKind, failures } from '../http/retry.ts';
import type { ChargeClass } from '../endpoints.ts';
import {
  keepBody,
  peekBody,
  ReadFailure,
  unusable,
  type IncomingResponse,
  readFile,
  readText,
} from '../http/responses/response-body.ts';
import {
  notJSON,
  lacking,
  type ReadOther,
  readWhole,
  detectFormat,
  readContentType,
} from '../calls/response.ts';
import { defaultAdvice } from '../errors/gateway-error.ts';
import { type Judgement, StreamTimeoutError, timedOut, truncated } from './errors.ts';
import { serverEvents } from './events.ts';
import type { StreamContext, StreamProtocol, WholeOf } from './protocol.ts';
import { type StreamForm, StreamReader } from './stream-reader.ts';
import { type Stream, toStream } from './stream.ts';
import { StreamTimeouts } from './timeouts.ts';
import { toEvents } from './follow.ts';

/** Server-sent events with the time limits of all streams. */
export const events: StreamForm = {
  format: serverEvents,
  limits: { Timeouts: StreamTimeouts, failure: timedOut },
};

/**
 * Creates a stream from a list of events; see `StreamProtocol.fromResponse`.
 *
 * @param isWhole - `true` if the list is complete.
 */
export function streamFromValues<Item>(
  values: readonly unknown[],
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  isWhole = true,
): Stream<Item> {
  const ending = isWhole ? { ...protocol, endIsProof: true } : protocol;
  return toStream(new StreamReader(values, context, ending, events));
}

/**
 * Reads an event stream to its end and returns the complete response.
 *
 * @throws the error that a loop over the stream would throw
 */
export async function collectStream<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Promise<WholeOf<Item>> {
  const { settings } = context;
  const maxBytes = settings.maxResponseBytes;
  const collecting = { ...context, settings: { ...settings, partial: true }, maxBytes };
  const reading = new StreamReader(response.body ?? [], collecting, protocol, events);
  while ((await reading.next()).done !== true);
  const { partial, usage } = reading;
  if (partial !== undefined) return partial;
  throw truncated(context.describe(), { partial, usage, started: false }, 'truncated');
}

/* @__NO_SIDE_EFFECTS__ */
export function eventFormat<Item, Other = never>(
  protocol: StreamProtocol<Item>,
  readOther?: ReadOther<Other>,
): ResultFormat<Stream<Item> | Other, 'events'> {
  return {
    kind: 'events',
    read: (request, incoming) => openStream(request, incoming, protocol, readOther),
  };
}

/** A stream keeps its call open; another result ends it. */
type Opened<Item, Other> =
  | { readonly value: Stream<Item>; readonly stays: true }
  | { readonly value: Other };

/**
 * Opens an event stream. Its first byte decides how the body is read, because gateways label JSON errors as
 * event streams, and event streams as anything.
 */
async function openStream<Item, Other>(
  request: GatewayRequest,
  received: IncomingResponse,
  protocol: StreamProtocol<Item>,
  readOther: ReadOther<Other> | undefined,
): Promise<Opened<Item, Other>> {
  let incoming = received;
  if (incoming.response.body === null) return readInstead(request, incoming, protocol, readOther);
  const type = readContentType(incoming.response);
  if (!type.includes('event-stream')) {
    let beginning: string;
    ({ beginning, incoming } = await peekBody(incoming));
    const format = detectFormat(beginning);
    const isText = protocol.fromText !== undefined && !/^(events|markup)$/.test(format);
    const isSVG = format === 'markup' && type.startsWith('image/svg');
    if (isText || beginning === '' || (/^(json|markup)$/.test(format) && !isSVG)) {
      return readInstead(request, incoming, protocol, readOther);
    }
    // The gateway returned a file instead of a stream: its bytes become a stream.
    if (protocol.fromFile !== undefined && /^(audio|image|video)\/|\boctet-stream\b/.test(type)) {
      const items = protocol.fromFile(await readFile(incoming, Infinity), incoming);
      return streamOf(request, incoming, protocol, items);
    }
  }
  request.scope.clearLimits();
  const context = { ...toStreamContext(request, incoming), holds: request.holdsStream() };
  const reading = new StreamReader(incoming.response.body ?? [], context, protocol, events);
  await reading.begun?.catch(noteFailure(request));
  return { value: toStream(reading), stays: true };
}

/** Reads the complete response, as text or JSON, that a gateway returned instead of a stream. */
async function readInstead<Item, Other>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  protocol: StreamProtocol<Item>,
  readOther: ReadOther<Other> | undefined,
): Promise<Opened<Item, Other>> {
  const text = await readText(incoming, request.settings.maxResponseBytes);
  const isJSON = typeof (parseJSON(text, parseLines) ?? '') === 'object';
  if (protocol.fromText !== undefined && !isJSON && detectFormat(text) !== 'markup') {
    const values = protocol.fromText(text, readContentType(incoming.response));
    if (values.length === 0) throw notJSON(text, incoming);
    return streamOf(request, incoming, protocol, values);
  }
  const isIn = (sent: JsonObject): boolean => protocol.fromResponse(sent).length > 0;
  const whole = readWhole(request, incoming, text, isIn, parseLines, readOther);
  if (whole.other !== undefined) return { value: whole.other };
  const { value, isRefusal } = whole;
  const instead = isRefusal ? undefined : toEvents(value, protocol);
  if (instead === undefined) {
    const problem = 'the response is JSON instead of a stream, and contains no result.';
    throw lacking(value, incoming, problem, text);
  }
  return streamOf(request, incoming, protocol, instead.events, instead.isWhole);
}

/** Creates a stream from the events of a complete response. */
function streamOf<Item>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  protocol: StreamProtocol<Item>,
  values: readonly unknown[],
  isWhole?: boolean,
): Opened<Item, never> {
  const context = toStreamContext(request, incoming);
  return { value: streamFromValues(values, context, protocol, isWhole), stays: true };
}

/** Returns a function that notes the failure of a stream in its request, and throws the error. */
function noteFailure(request: GatewayRequest): (error: unknown) => never {
  return (error) => {
    request.failure = toFailure(error, request.spec.charge);
    throw error;
  };
}

/** Returns the failure of a stream whose content has not reached the caller. */
function toFailure(error: unknown, charge: ChargeClass): FailedAttempt | undefined {
  if (APIUserAbortError.isInstance(error) || !APIError.isInstance(error)) return undefined;
  const { headers } = error;
  const body = readErrorValue(error.error);
  const status = error.outcome === 'rejected' ? findStatus(body) : error.status;
  const failed = { phase: 'body', status, body, problem: error.summary } as const;
  if (StreamTimeoutError.isInstance(error)) return { ...failed, kind: 'timed_out' };
  const { issues } = UnexpectedResponseError.isInstance(error) ? error : {};
  const isJudged = error.outcome === 'rejected' && headers !== undefined;
  const kind = isJudged ? classifyEvent(body, headers, charge) : 'undecided';
  return { ...failed, kind, issues };
}

/**
 * Returns a function that creates a stream from the result of a task that the response to a call named. The call has
 * ended by then.
 */
export function streamOfTask<Item>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  protocol: StreamProtocol<Item>,
): (result: unknown) => Stream<Item> {
  // The call has ended, and the result was validated when it was read.
  const context = { ...toStreamContext(request, incoming), owner: undefined, check: unchecked };
  return (result) => {
    const { events: values = [], isWhole } = toEvents(result, protocol) ?? {};
    return streamFromValues(values, context, protocol, isWhole);
  };
}

/**
 * Returns a reader that assembles the events of a stream into a complete response. If there is none, the error has the
 * text of the stream, which may be paid for.
 *
 * @param findProblem - Returns the problem with a response; `undefined` if there is none.
 */
/* @__NO_SIDE_EFFECTS__ */
export function collectAs<Item>(
  protocol: StreamProtocol<Item>,
  findProblem?: (whole: WholeOf<Item>) => string | undefined,
): (request: GatewayRequest, incoming: IncomingResponse) => Promise<WholeOf<Item>> {
  return async (request, incoming) => {
    const { response, text } = keepBody(incoming.response, request.settings.maxResponseBytes);
    const context = toStreamContext(request, incoming);
    const body = (): string => request.redaction.withoutKeys(text());
    const keeping = { ...context, describe: () => ({ ...context.describe(), body }) };
    const whole = await collectStream(response, keeping, protocol).catch(noteFailure(request));
    const problem = findProblem?.(whole);
    if (problem === undefined) return whole;
    throw new ReadFailure(unusable(incoming, problem, text()));
  };
}

/** Returns outcome and advice if a failure is known to have cost nothing. */
function adviceOf(kind: FailureKind): Judgement | undefined {
  const { outcome, advice = defaultAdvice[outcome] } = failures[kind];
  return outcome === 'unknown' ? undefined : { outcome, advice };
}

function toStreamContext(request: GatewayRequest, incoming: IncomingResponse): StreamContext {
  const { settings, check, scope, spec } = request;
  const { requestId } = incoming;
  const { status, headers } = incoming.response;
  return {
    settings,
    check,
    controller: scope.controller,
    signal: scope.signal,
    startedAt: request.call.startedAt,
    owner: request,
    describe() {
      const evidence = { phase: 'body', status, requestId } as const;
      return {
        operation: spec.operation,
        callId: request.id,
        requestID: requestId,
        status,
        headers,
        redaction: request.redaction,
        judge: (body) => adviceOf(classifyEvent(body, headers, spec.charge)),
        evidence: { ...evidence, attempts: request.history.evidence(evidence) },
      };
    },
  };
}
