import { readErrorInSuccess, readErrorValue } from '../answers/error-body.ts';
import { isObject, parseJSON } from '../answers/objects.ts';
import { type ResponseSchema, ShapeMismatch, readValue } from '../answers/reader.ts';
import type { AnswerFormat, LogicalCall } from './call.ts';
import { classifyErrorInSuccess } from './classify.ts';
import {
  type Answer,
  ReadFailure,
  attachRequestId,
  peek,
  readText,
  requestIdOf,
  unusable,
} from './response-body.ts';

/** The type that an answer is labelled with, which is often wrong. */
export function typeOf({ headers }: Response): string {
  return headers.get('content-type')?.toLowerCase() ?? '';
}

/** What text is, by its beginning. */
export function kindOfText(text: string): 'nothing' | 'json' | 'markup' | 'events' | 'other' {
  // White space includes the byte order mark.
  const start = text.trimStart();
  if (start === '') return 'nothing';
  if (/^[[{]/.test(start)) return 'json';
  if (start.startsWith('<')) return 'markup';
  return /^(?:data|event|id|retry)?:/.test(start) ? 'events' : 'other';
}

/** Long enough to tell an event stream by. */
const fieldLength = 6;

/** @throws what a parsed answer says when it is an error that came with a success status */
export function throwIfError(value: unknown, { spec, response }: Answer, text: string): void {
  const { charge, task } = spec;
  const body = readErrorInSuccess(value, task);
  if (body === undefined) return;
  const { status, headers } = response;
  const requestId = requestIdOf(headers, body.requestId);
  const kind = classifyErrorInSuccess(body, charge, task === 'creates');
  throw new ReadFailure({ kind, phase: 'body', status, headers, body, text, requestId });
}

/** Says what came as JSON and is no answer; others than OpenAI put errors anywhere. */
export function notAnswer(
  value: unknown,
  answer: Answer,
  problem: string,
  text: string,
): ReadFailure {
  // The value itself is in the text.
  const body = { ...readErrorValue(value), error: undefined };
  const requestId = answer.requestId ?? body.requestId;
  return new ReadFailure({ ...unusable(answer, problem, text), body, requestId });
}

/** Says why text is not the JSON that was promised. */
export function notJSON(text: string, answer: Answer): ReadFailure {
  const kind = kindOfText(text);
  if (kind === 'nothing') return new ReadFailure(unusable(answer, 'the answer is empty.'));
  const problem =
    kind === 'markup'
      ? 'the answer is an HTML page instead of JSON. The gateway answers so on paths that it does not know: check baseURL, and the vendor prefix if there is one.'
      : 'the answer is not JSON.';
  return new ReadFailure(unusable(answer, problem, text));
}

/** Parses text by its content, whatever its content type says. */
export function readJSON(text: string, answer: Answer, parse?: (text: string) => unknown): unknown {
  const value = parseJSON(text, parse);
  if (typeof value !== 'object' || value === null) throw notJSON(text, answer);
  throwIfError(value, answer, text);
  const problem = answer.spec.refuse?.(value, answer.response.status);
  if (problem === undefined) return value;
  throw new ReadFailure({ ...unusable(answer, problem, text), kind: 'undecided' });
}

/** What is known of a call besides its answer. */
interface CallInfo {
  readonly callId: string;
  readonly requestId: string | undefined;
  readonly status: number;
}

interface JSONAnswer<T> {
  readonly schema: ResponseSchema<T>;
  /** Puts an event stream together that came although a whole answer was asked for. */
  readonly fromEvents?: (call: LogicalCall, answer: Answer) => Promise<T>;
}

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
  { schema, fromEvents }: JSONAnswer<T>,
  finish?: (value: T, info: CallInfo) => unknown,
): AnswerFormat<unknown, 'json'> {
  return {
    kind: 'json',
    async read(call, given) {
      let answer = given;
      let isStream = false;
      if (fromEvents && typeOf(answer.response).includes('event-stream')) {
        // An event stream is read as one: its time limits hold, and what had come of it is not lost when
        // it breaks off.
        let beginning: string;
        ({ beginning, answer } = await peek(answer, fieldLength));
        isStream = kindOfText(beginning) === 'events';
      }
      let value: T;
      if (fromEvents && isStream) {
        call.scope.handOver();
        value = await fromEvents(call, answer);
      } else {
        const text = await readText(answer, call.settings.maxResponseBytes);
        value =
          fromEvents && kindOfText(text) === 'events'
            ? await fromEvents(call, { ...answer, response: new Response(text, answer.response) })
            : fromJSON(call, answer, text, schema);
      }
      const { requestId, response } = answer;
      attachRequestId(value, requestId);
      if (finish === undefined) return { value };
      const { status } = response;
      return { value: await finish(value, { callId: call.id, requestId, status }) };
    },
  };
}

function fromJSON<T>(
  call: LogicalCall,
  answer: Answer,
  received: string,
  schema: ResponseSchema<T>,
): T {
  // What a failed task says can become an error, which may not show the key.
  const isTask = call.spec.task !== undefined;
  const text = isTask ? call.redaction.withoutKeys(received) : received;
  const value = readJSON(text, answer, schema.parse);
  const content = schema.answer;
  if (content !== undefined && !(isObject(value) && content.isIn(value))) {
    throw notAnswer(value, answer, `the answer is JSON with no ${content.name} in it.`, text);
  }
  return readChecked(call, answer, value, schema, text);
}

/** Compares an answer with what is expected and reports what differs; in strict mode that is an error. */
function readChecked<T>(
  call: LogicalCall,
  answer: Answer,
  value: unknown,
  schema: ResponseSchema<T>,
  text: string,
): T {
  try {
    return readValue(value, schema, call.check);
  } catch (error) {
    if (!(error instanceof ShapeMismatch)) throw error;
    const { issues, message } = error;
    throw call.toError({ ...unusable(answer, message, text), issues, data: value });
  }
}

/** Whether text is a page, as the gateway and proxies answer on paths that they do not know. */
export function isPage(text: string): boolean {
  return /^\s*<(!doctype html|html)[\s>]/i.test(text);
}

/**
 * An answer in text, or in JSON where text was asked for.
 *
 * @param fromText - Makes a value of the text, with what reads parsed JSON, or says what is wrong with it.
 */
export function textAnswer<T>(
  fromText: (
    text: string,
    read: <Parsed>(value: unknown, schema: ResponseSchema<Parsed>) => Parsed,
  ) => { readonly value: T } | { readonly problem: string },
): AnswerFormat<T, 'text'> {
  return {
    kind: 'text',
    async read(call, answer) {
      const text = await readText(answer, call.settings.maxResponseBytes);
      if (isPage(text)) throw notJSON(text, answer);
      throwIfError(parseJSON(text), answer, text);
      const result = fromText(text, (value, schema) =>
        readChecked(call, answer, value, schema, text),
      );
      if ('problem' in result) throw new ReadFailure(unusable(answer, result.problem, text));
      attachRequestId(result.value, answer.requestId);
      return result;
    },
  };
}

/** Parsed JSON, text if it is not JSON, `null` for a 204, and `undefined` for an empty body labelled JSON. */
export const valueAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  read: (call, answer) =>
    textAnswer((text) => {
      const isLabelled = /\bjson\b/.test(typeOf(answer.response));
      const looksLikeJSON = kindOfText(text) === 'json';
      const value = isLabelled || looksLikeJSON ? parseJSON(text) : undefined;
      if (value !== undefined) return { value };
      if (isLabelled && looksLikeJSON) return { problem: 'the answer is not JSON.' };
      if (answer.response.status === 204) return { value: null };
      return { value: isLabelled && text === '' ? undefined : text };
    }).read(call, answer),
};
