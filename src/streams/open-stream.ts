import { readErrorValue } from '../answers/error-body.ts';
import { parseJSON, parseLines } from '../answers/objects.ts';
import { APIError, APIUserAbortError, UnexpectedResponseError } from '../errors/api-errors.ts';
import type { AnswerFormat, Request } from '../calls/request.ts';
import type { FailedAttempt } from '../http/retry.ts';
import { peek, type Answer, toReadFailure, readText } from '../http/response-body.ts';
import { notJSON, notResult, readWhole, detectFormat, readContentType } from '../calls/response.ts';
import { StreamTimeoutError, timedOut, truncated } from './errors.ts';
import { serverEvents } from './events.ts';
import type { StreamContext, StreamProtocol, WholeOf } from './protocol.ts';
import { readStream, type StreamForm } from './stream-reader.ts';
import { type Stream, toStream } from './stream.ts';
import { watchTimeouts } from './timeouts.ts';
import { toEvents } from './verdict.ts';

const events: StreamForm = {
  format: serverEvents,
  limits: { watch: watchTimeouts, failure: timedOut },
};

/** Opens the event stream in the body of a response, and locks the body. */
export function createStream<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Stream<Item> {
  return toStream(readStream(response.body ?? [], context, protocol, events));
}

/**
 * Creates a stream from a list of events; see `StreamProtocol.fromAnswer`.
 *
 * @param isWhole - `true` if the list is complete.
 */
export function streamFromValues<Item>(
  values: readonly unknown[],
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  isWhole = true,
): Stream<Item> {
  return toStream(readStream(values, context, { ...protocol, endIsProof: isWhole }, events));
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
  const { maxResponseBytes: maxBytes, error } = context;
  const collecting = { ...context, partial: true, maxBytes };
  const reading = readStream(response.body ?? [], collecting, protocol, events);
  while ((await reading.next()).done !== true);
  const { partial, usage } = reading;
  if (partial !== undefined) return partial;
  throw truncated(error, { partial, usage, started: false }, 'truncated');
}

/* @__NO_SIDE_EFFECTS__ */
export function eventAnswer<Item>(
  protocol: StreamProtocol<Item>,
): AnswerFormat<Stream<Item>, 'events'> {
  return {
    kind: 'events',
    async read(request, answer) {
      return { value: await openStream(request, answer, protocol), stays: true };
    },
  };
}

/**
 * Opens an event stream. Its first byte decides how the body is read, because gateways label JSON errors as
 * event streams, and event streams as anything.
 */
async function openStream<Item>(
  request: Request,
  received: Answer,
  protocol: StreamProtocol<Item>,
): Promise<Stream<Item>> {
  let answer = received;
  const context = toStreamContext(request, answer);
  if (answer.response.body === null) return streamWholeAnswer(request, answer, context, protocol);
  const type = readContentType(answer.response);
  if (!type.includes('event-stream')) {
    let beginning: string;
    ({ beginning, answer } = await peek(answer));
    const format = detectFormat(beginning);
    if (protocol.fromText !== undefined && !/^(events|markup)$/.test(format)) {
      return await streamText(request, answer, context, protocol);
    }
    const isSVG = format === 'markup' && type.startsWith('image/svg');
    if (beginning === '' || (/^(json|markup)$/.test(format) && !isSVG)) {
      return streamWholeAnswer(request, answer, context, protocol);
    }
    // The gateway returned a file instead of a stream: its bytes become a stream.
    if (protocol.fromFile !== undefined && /^(audio|image|video)\/|\boctet-stream\b/.test(type)) {
      const buffer = await answer.response.arrayBuffer().catch((cause: unknown) => {
        throw toReadFailure(cause, answer);
      });
      return streamFromValues(protocol.fromFile(new Uint8Array(buffer), type), context, protocol);
    }
  }
  request.scope.clearLimits();
  const holding = { ...context, holds: request.plan.holdsStream() };
  const reading = readStream(answer.response.body ?? [], holding, protocol, events);
  await reading.begun?.catch(noteFailure(request));
  return toStream(reading);
}

/** Creates a stream from text or JSON that a gateway returned instead of a stream. */
async function streamText<Item>(
  request: Request,
  answer: Answer,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Promise<Stream<Item>> {
  const text = await readText(answer, context.maxResponseBytes ?? Infinity);
  const value = parseJSON(text, parseLines);
  if (typeof value === 'object' && value !== null) {
    return streamWholeText(request, answer, context, protocol, text);
  }
  const converted = protocol.fromText?.(text, readContentType(answer.response)) ?? [];
  if (converted.length === 0) throw notJSON(text, answer);
  return streamFromValues(converted, context, protocol);
}

/** Returns a function that notes the failure of a stream in its request, and throws the error. */
function noteFailure(request: Request): (error: unknown) => never {
  return (error) => {
    request.failure = toFailure(error);
    throw error;
  };
}

/** Returns the failure of a stream whose content has not reached the caller. */
function toFailure(error: unknown): FailedAttempt | undefined {
  if (APIUserAbortError.isInstance(error) || !APIError.isInstance(error)) return undefined;
  const { status } = error;
  const failed = { phase: 'body', status, body: readErrorValue(error.error) } as const;
  if (StreamTimeoutError.isInstance(error)) return { ...failed, kind: 'timed_out' };
  const { issues } = UnexpectedResponseError.isInstance(error) ? error : {};
  return { ...failed, kind: 'undecided', issues };
}

/** Creates a stream from a complete response that a gateway returned instead of a stream. */
async function streamWholeAnswer<Item>(
  request: Request,
  answer: Answer,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Promise<Stream<Item>> {
  const text = await readText(answer, context.maxResponseBytes ?? Infinity);
  return streamWholeText(request, answer, context, protocol, text);
}

async function streamWholeText<Item>(
  request: Request,
  answer: Answer,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  text: string,
): Promise<Stream<Item>> {
  const value = await readWhole(request, answer, text, parseLines);
  const instead = toEvents(value, protocol);
  if (instead === undefined) {
    const problem = 'the response is JSON instead of a stream, and contains no result.';
    throw notResult(value, answer, problem, text);
  }
  return streamFromValues(instead.events, context, protocol, instead.isWhole);
}

/** Returns a reader that assembles the events of a stream into a complete response. */
/* @__NO_SIDE_EFFECTS__ */
export function collectAs<Item>(
  protocol: StreamProtocol<Item>,
): (request: Request, answer: Answer) => Promise<WholeOf<Item>> {
  return (request, answer) =>
    collectStream(answer.response, toStreamContext(request, answer), protocol).catch(
      noteFailure(request),
    );
}

/** Returns the settings of a call that its stream needs. */
function toStreamContext(request: Request, answer: Answer): StreamContext {
  const { settings, spec, scope } = request;
  const { requestId } = answer;
  const { status, headers } = answer.response;
  const evidence = { phase: 'body', status, requestId } as const;
  return {
    ...settings,
    ...request.check,
    controller: scope.controller,
    signal: scope.signal,
    startedAt: request.startedAt,
    error: {
      operation: spec.operation,
      callId: request.id,
      requestID: requestId,
      status,
      headers,
      redaction: request.redaction,
      evidence: { ...evidence, attempts: request.evidence(evidence) },
    },
    warn: (message) =>
      request.client.log.write('warn', message, { callId: request.id, operation: spec.operation }),
    release: (outcome, progress) => request.endStream(outcome, progress),
    chunk: () => request.noteChunk(),
  };
}
