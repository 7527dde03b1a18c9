import { parseLines } from '../answers/parse-json.ts';
import type { AnswerFormat, LogicalCall } from '../http/logical-call.ts';
import { beginningOf, peek } from '../http/peek.ts';
import type { Answer } from '../http/promise.ts';
import { brokenOff, notAnswer, notJSON, readJSON, readText } from '../http/read-answer.ts';
import { isEventStream } from '../http/response.ts';
import { toEvents } from './verdict.ts';
import { collectStream, createStream, streamFromValues, type Stream } from './stream.ts';
import type { StreamContext, StreamProtocol, WholeOf } from './protocol.ts';

/** What a stream has to know of its call. */
function streamContextOf(call: LogicalCall, answer: Answer): StreamContext {
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
      onIssue: (issue) => call.client.drift.report(spec.operation, issue),
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
    release: (outcome) => call.endStream(outcome),
  };
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

/** An answer that is an event stream. */
export function eventAnswer<T>(protocol: StreamProtocol<T>): AnswerFormat<Stream<T>, 'events'> {
  return { kind: 'events', read: (call, answer) => openStream(call, answer, protocol) };
}

/** Puts the events together that came in place of a whole answer; what is made of them may be more. */
export function collectWith<T>(
  collect: (response: Response, context: StreamContext) => Promise<T>,
): (call: LogicalCall, answer: Answer) => Promise<T> {
  return (call, answer) => collect(answer.response, streamContextOf(call, answer));
}

/** The same for a stream whose events add up to the answer. */
export function collectAs<Item>(
  protocol: StreamProtocol<Item>,
): (call: LogicalCall, answer: Answer) => Promise<WholeOf<Item>> {
  return collectWith((response, context) => collectStream(response, context, protocol));
}

/**
 * Opens an event stream. What came is told by its first byte: gateways label JSON errors as event
 * streams and event streams as anything.
 */
async function openStream<T>(
  call: LogicalCall,
  answer: Answer,
  protocol: StreamProtocol<T>,
): Promise<OpenStream<T>> {
  const { body, headers } = answer.response;
  if (body === null) throw notJSON('', answer);
  const context = streamContextOf(call, answer);
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
