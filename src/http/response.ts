import { isObject } from '../answers/objects.ts';
import { readValue, type ResponseSchema, ShapeMismatch } from '../answers/reader.ts';
import { binaryAnswer, type FileInJSON } from './binary-answer.ts';
import type { AnswerFormat, LogicalCall } from './logical-call.ts';
import { beginningOf, peek, withBody } from './peek.ts';
import type { Answer } from './promise.ts';
import {
  isPage,
  notAnswer,
  notJSON,
  parseAnswer,
  readAnything,
  ReadFailure,
  readJSON,
  readText,
  throwIfError,
  unusable,
} from './read-answer.ts';
import { attachRequestId } from './request-id.ts';

/** What is known of a call besides its answer. */
export interface CallInfo {
  readonly callId: string;
  /** The root of the gateway that answered. */
  readonly baseURL: string;
  readonly requestId: string | undefined;
  readonly status: number;
  readonly headers: Headers;
}

/** How the JSON answer of an operation becomes a value. */
interface JSONAnswer<T> {
  readonly schema: ResponseSchema<T>;
  /** Puts an event stream together that came although a whole answer was asked for. */
  readonly fromEvents?: (call: LogicalCall, answer: Answer) => Promise<T>;
}

/** Reads parsed JSON that came as the answer of the operation, and reports what differs. */
type ReadParsed = <T>(value: unknown, schema: ResponseSchema<T>) => T;

/** How text becomes a value; a string is a complaint. */
export type FromText<T> = (
  text: string,
  read: ReadParsed,
) => { readonly value: T } | { readonly problem: string };

/**
 * An answer in JSON.
 *
 * @param finish - Adds to the value what the answer itself does not say, or makes another one of it.
 */
export function jsonAnswer<T>(answer: JSONAnswer<T>): AnswerFormat<T, 'json'>;
export function jsonAnswer<T, Value>(
  answer: JSONAnswer<T>,
  finish: (value: T, info: CallInfo) => Value | Promise<Value>,
): AnswerFormat<Value, 'json'>;
export function jsonAnswer<T>(
  answer: JSONAnswer<T>,
  finish: (value: T, info: CallInfo) => unknown = (value) => value,
): AnswerFormat<unknown, 'json'> {
  return {
    kind: 'json',
    async read(call, received) {
      const value = await readWhole(call, received, answer);
      attachRequestId(value, received.requestId);
      const { requestId, response } = received;
      const { status, headers } = response;
      const baseURL = call.client.base.root;
      const info = { callId: call.id, baseURL, requestId, status, headers };
      return { value: await finish(value, info) };
    },
  };
}

async function readWhole<T>(
  call: LogicalCall,
  received: Answer,
  { schema, fromEvents }: JSONAnswer<T>,
): Promise<T> {
  let response = received.response;
  if (fromEvents && isEventStream(response.headers)) {
    const peeked = await peekForEvents(received);
    response = peeked.response;
    if (peeked.isEvents) {
      call.scope.handOver();
      return fromEvents(call, { ...received, response });
    }
  }
  let text = await readText({ ...received, response }, call.settings.maxResponseBytes);
  if (fromEvents && looksLikeEvents(text)) {
    return fromEvents(call, { ...received, response: new Response(text, response) });
  }
  // An answer of this kind can become an error: the word of a task that failed.
  if (call.spec.operation.startsWith('videos.')) text = call.redaction.withoutKeys(text);
  const body = readJSON(text, received, schema.parse);
  const { answer } = schema;
  if (answer !== undefined && !(isObject(body) && answer.isIn(body))) {
    const problem = `the answer is JSON with no ${answer.name} in it.`;
    throw notAnswer(body, received, problem, text);
  }
  return check(call, received, body, schema, text);
}

/** Whether an answer is labelled as an event stream. */
export function isEventStream(headers: Headers): boolean {
  return /\bevent-stream\b/i.test(headers.get('content-type') ?? '');
}

/** Whether text is an event stream: some gateways stream although a whole answer was asked for. */
function looksLikeEvents(text: string): boolean {
  return /^\uFEFF?\s*(?:data|event|id|retry)?:/.test(text);
}

/** Long enough to tell an event stream by. */
const fieldLength = 6;

/**
 * Looks into an answer that is labelled as an event stream although none was asked for. When it is one
 * it is read as one: its time limits hold, and what had come of it is not lost when it breaks off.
 */
async function peekForEvents({
  response,
  signal,
}: Answer): Promise<{ response: Response; isEvents: boolean }> {
  try {
    const peeked = await peek(response, signal, fieldLength);
    return { response: peeked.response, isEvents: looksLikeEvents(beginningOf(peeked.first)) };
  } catch (cause) {
    // Whoever reads it is told.
    const broken = new ReadableStream<Uint8Array>({ start: (body) => body.error(cause) });
    return { response: withBody(response, broken), isEvents: false };
  }
}

/** An answer in text, or in JSON where text was asked for. */
export function textAnswer<T>(fromText: FromText<T>): AnswerFormat<T, 'text'> {
  return {
    kind: 'text',
    async read(call, received) {
      const text = await readText(received, call.settings.maxResponseBytes);
      if (isPage(text)) throw notJSON(text, received);
      throwIfError(parseAnswer(text), received, text);
      const result = fromText(text, (value, schema) => check(call, received, value, schema, text));
      if ('problem' in result) throw new ReadFailure(unusable(received, result.problem, text));
      attachRequestId(result.value, received.requestId);
      return result;
    },
  };
}

/**
 * An answer that is a file.
 *
 * @param fileIn - Finds the file in an answer in JSON, which holds it in base64.
 */
export function fileAnswer(fileIn?: FileInJSON): AnswerFormat<Response, 'binary'> {
  return { kind: 'binary', read: (call, received) => binaryAnswer(call, received, fileIn) };
}

/** An answer of which nothing is promised: parsed JSON, or text when it is not JSON. */
export const anyAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  async read(call, received) {
    const text = await readText(received, call.settings.maxResponseBytes);
    return { value: readAnything(text, received) };
  },
};

/** Checks an answer and reports what differs; in strict mode a difference is an error. */
function check<T>(
  call: LogicalCall,
  received: Answer,
  value: unknown,
  schema: ResponseSchema<T>,
  text: string,
): T {
  try {
    return readValue(value, schema, {
      validation: call.settings.validation,
      onIssue: (issue) => call.client.drift.report(call.spec.operation, issue),
    });
  } catch (error) {
    if (!(error instanceof ShapeMismatch)) throw error;
    const { issues, message } = error;
    throw call.toError({ ...unusable(received, message, text), issues, data: value }, 'unknown');
  }
}
