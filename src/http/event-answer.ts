import { parseLines } from '../answers/parse-json.ts';
import { toEvents } from '../streams/event-decoder.ts';
import type { StreamContext, StreamProtocol } from '../streams/protocol.ts';
import { createStream, streamFromValues, type Stream } from '../streams/stream.ts';
import type { DriftReporter } from '../answers/drift.ts';
import type { LogicalCall } from './logical-call.ts';
import { beginningOf, peek, withBody } from './peek.ts';
import type { Answer } from './promise.ts';
import { brokenOff, notAnswer, notJSON, readJSON, readText } from './read-answer.ts';

/** What a stream has to know of its call. */
export function streamContextOf(
  call: LogicalCall,
  answer: Answer,
  drift: DriftReporter,
): StreamContext {
  const { settings, spec, scope } = call;
  const { status, headers } = answer.response;
  const evidence = { phase: 'body', status, requestId: answer.requestId } as const;
  return {
    controller: scope.controller,
    signal: scope.signal,
    limits: settings,
    startedAt: call.startedAt,
    onTruncated: settings.onTruncated,
    maxEventBytes: settings.maxEventBytes,
    maxResponseBytes: settings.maxResponseBytes,
    partial: settings.partial,
    check: {
      validation: settings.validation,
      onIssue: (issue) => drift.report(spec.operation, issue),
    },
    error: {
      operation: spec.operation,
      callId: call.id,
      requestID: answer.requestId,
      status,
      headers,
      redaction: call.redaction,
      evidence: { ...evidence, attempts: [...call.attempts, evidence] },
    },
    warn: (message, details) =>
      call.client.log.write('warn', message, { callId: call.id, ...details }),
    release: (settlement) => call.endStream(settlement),
  };
}

/** Whether text is an event stream: some gateways stream although a whole answer was asked for. */
export function looksLikeEvents(text: string): boolean {
  return /^\uFEFF?\s*(?:data|event|id|retry)?:/.test(text);
}

const isEventStream = (headers: Headers): boolean =>
  /\bevent-stream\b/i.test(headers.get('content-type') ?? '');

/** Long enough to tell an event stream by. */
const fieldLength = 6;

/**
 * Looks into an answer that is labelled as an event stream although none was asked for. When it is one
 * it is read as one: its time limits hold, and what had come of it is not lost when it breaks off.
 *
 * @returns `undefined` when it is none; the body of `answer` begins at its first byte again then
 */
export async function eventsInstead(answer: Answer): Promise<Response | undefined> {
  const { response, signal } = answer;
  if (response.body === null || !isEventStream(response.headers)) return undefined;
  try {
    const { first, response: again } = await peek(response, signal, fieldLength);
    if (looksLikeEvents(beginningOf(first))) return again;
    answer.response = again;
  } catch (cause) {
    // Whoever reads it is told.
    const broken = new ReadableStream<Uint8Array>({ start: (body) => body.error(cause) });
    answer.response = withBody(response, broken);
  }
  return undefined;
}

interface OpenStream<T> {
  readonly value: Stream<T>;
  readonly stays: true;
}

/** A gateway that was asked to stream and answered whole: its answer becomes a stream. */
async function readWhole<T>(
  answer: Answer,
  context: StreamContext,
  protocol: StreamProtocol<T>,
): Promise<OpenStream<T>> {
  const text = await readText(answer, context.maxResponseBytes);
  const value = readJSON(text, answer, parseLines);
  const instead = toEvents(value, protocol);
  if (instead === undefined) {
    const problem = 'the answer is JSON in place of a stream, with nothing of an answer in it.';
    throw notAnswer(value, answer, problem, text);
  }
  const { events, isWhole } = instead;
  return { value: streamFromValues(events, context, protocol, isWhole), stays: true };
}

/**
 * Opens an event stream. What came is told by its first byte: gateways label JSON errors as event
 * streams and event streams as anything.
 */
export async function eventAnswer<T>(
  call: LogicalCall,
  answer: Answer,
  protocol: StreamProtocol<T>,
  drift: DriftReporter,
): Promise<OpenStream<T>> {
  const { body, headers } = answer.response;
  if (body === null) throw notJSON('', answer);
  const context = streamContextOf(call, answer, drift);
  const type = headers.get('content-type') ?? '';
  if (isEventStream(headers)) {
    call.scope.handOver();
    return { value: createStream(answer.response, context, protocol), stays: true };
  }
  try {
    const { first, response } = await peek(answer.response, answer.signal);
    if (first.byteLength === 0) throw notJSON('', answer);
    if (/^[{[<]/.test(beginningOf(first))) {
      return await readWhole({ ...answer, response }, context, protocol);
    }
    // A gateway that was asked to stream and answered with a file: its bytes become a stream.
    if (protocol.fromFile !== undefined && /^(audio|video)\/|\boctet-stream\b/i.test(type)) {
      const values = protocol.fromFile(new Uint8Array(await response.arrayBuffer()));
      return { value: streamFromValues(values, context, protocol), stays: true };
    }
    call.scope.handOver();
    return { value: createStream(response, context, protocol), stays: true };
  } catch (cause) {
    throw brokenOff(cause, answer);
  }
}
