import { parseLines } from '../answers/objects.ts';
import type { AnswerFormat, LogicalCall } from '../http/call.ts';
import { peek, type Answer, brokenOff, readText } from '../http/response-body.ts';
import { notAnswer, notJSON, readJSON, kindOfText, typeOf } from '../http/response.ts';
import { timedOut, truncated } from './errors.ts';
import { serverEvents } from './events.ts';
import type { StreamContext, StreamProtocol, WholeOf } from './protocol.ts';
import { readStream, type StreamForm } from './stream-reader.ts';
import { type Stream, streamOf } from './stream.ts';
import { watchTimeouts } from './timeouts.ts';
import { toEvents } from './verdict.ts';

const events: StreamForm = {
  format: serverEvents,
  limits: { watch: watchTimeouts, failure: timedOut },
};

/** Opens the event stream in the body of a response, which is locked at once. */
export function createStream<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Stream<Item> {
  return streamOf(readStream(response.body ?? [], context, protocol, events));
}

/**
 * Makes a stream of events that came in one piece; see `StreamProtocol.fromAnswer`.
 *
 * @param isWhole - Whether nothing can be missing.
 */
export function streamFromValues<Item>(
  values: readonly unknown[],
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  isWhole = true,
): Stream<Item> {
  return streamOf(readStream(values, context, { ...protocol, endIsProof: isWhole }, events));
}

/**
 * Reads an event stream to its end and gives what it adds up to.
 *
 * @throws whatever a loop over the stream throws
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

export function eventAnswer<Item>(
  protocol: StreamProtocol<Item>,
): AnswerFormat<Stream<Item>, 'events'> {
  return {
    kind: 'events',
    async read(call, answer) {
      return { value: await openStream(call, answer, protocol), stays: true };
    },
  };
}

/**
 * Opens an event stream. What came is told by its first byte: gateways label JSON errors as event
 * streams and event streams as anything.
 */
async function openStream<Item>(
  call: LogicalCall,
  given: Answer,
  protocol: StreamProtocol<Item>,
): Promise<Stream<Item>> {
  let answer = given;
  if (answer.response.body === null) throw notJSON('', answer);
  const context = contextOf(call, answer);
  const type = typeOf(answer.response);
  if (!type.includes('event-stream')) {
    let beginning: string;
    ({ beginning, answer } = await peek(answer));
    if (beginning === '') throw notJSON('', answer);
    if (/^(json|markup)$/.test(kindOfText(beginning))) {
      return streamOfAnswer(answer, context, protocol);
    }
    // A gateway that was asked to stream and answered with a file: its bytes become a stream.
    if (protocol.fromFile !== undefined && /^(audio|video)\/|\boctet-stream\b/.test(type)) {
      const buffer = await answer.response.arrayBuffer().catch((cause: unknown) => {
        throw brokenOff(cause, answer);
      });
      return streamFromValues(protocol.fromFile(new Uint8Array(buffer)), context, protocol);
    }
  }
  call.scope.handOver();
  return createStream(answer.response, context, protocol);
}

/** A gateway that was asked to stream and answered whole: its answer becomes a stream. */
async function streamOfAnswer<Item>(
  answer: Answer,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Promise<Stream<Item>> {
  const text = await readText(answer, context.maxResponseBytes ?? Infinity);
  const value = readJSON(text, answer, parseLines);
  const instead = toEvents(value, protocol);
  if (instead === undefined) {
    const problem = 'the answer is JSON in place of a stream, with nothing of an answer in it.';
    throw notAnswer(value, answer, problem, text);
  }
  return streamFromValues(instead.events, context, protocol, instead.isWhole);
}

/** Puts the events together that came in place of a whole answer. */
export function collectAs<Item>(
  protocol: StreamProtocol<Item>,
): (call: LogicalCall, answer: Answer) => Promise<WholeOf<Item>> {
  return (call, answer) => collectStream(answer.response, contextOf(call, answer), protocol);
}

/** What a stream has to know of its call. */
function contextOf(call: LogicalCall, answer: Answer): StreamContext {
  const { settings, spec, scope } = call;
  const { requestId } = answer;
  const { status, headers } = answer.response;
  const evidence = { phase: 'body', status, requestId } as const;
  return {
    ...settings,
    ...call.check,
    controller: scope.controller,
    signal: scope.signal,
    startedAt: call.startedAt,
    error: {
      operation: spec.operation,
      callId: call.id,
      requestID: requestId,
      status,
      headers,
      redaction: call.redaction,
      evidence: { ...evidence, attempts: [...call.attempts, evidence] },
    },
    warn: (message) =>
      call.client.log.write('warn', message, { callId: call.id, operation: spec.operation }),
    release: (outcome, progress) => call.endStream(outcome, progress),
    firstChunk: () => call.noteChunk(),
  };
}
