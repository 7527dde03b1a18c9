import {
  isHTMLPage,
  readErrorInSuccess,
  readErrorValue,
  readFailedResponse,
  unwrapData,
} from '../answers/failure.ts';
import { findId, isObject, parseJSON, toFields } from '../answers/objects.ts';
import { type ResponseSchema, ShapeMismatch, readValue } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { classifyErrorInSuccess } from '../http/classify.ts';
import {
  type Answer,
  ReadFailure,
  attachRequestId,
  peek,
  readFile,
  readText,
  findRequestId,
  unusable,
} from '../http/response-body.ts';
import type { FailureKind } from '../http/retry.ts';
import type { AnswerFormat, Request } from './request.ts';

/** Returns the content type, which is often wrong. */
export function readContentType({ headers }: Response): string {
  return headers.get('content-type')?.toLowerCase() ?? '';
}

/** Detects the format of text by its beginning. */
export function detectFormat(text: string): 'nothing' | 'json' | 'markup' | 'events' | 'other' {
  // `trimStart` also removes a byte order mark.
  const start = text.trimStart();
  if (start === '') return 'nothing';
  if (/^[[{]/.test(start)) return 'json';
  if (start.startsWith('<')) return 'markup';
  return /^(?:data|event|id|retry)?:/.test(start) ? 'events' : 'other';
}

/** Bytes needed to recognize an event stream. */
const fieldLength = 6;

/** @throws `ReadFailure` if a parsed success response contains an error */
export function throwIfError(value: unknown, { spec, response }: Answer, text: string): void {
  const { charge, task } = spec;
  const failed = charge === 'free' ? undefined : readFailedResponse(value);
  const body = failed ?? readErrorInSuccess(value, task);
  if (body === undefined || spec.holdsResult?.(value) === true) return;
  const { status, headers } = response;
  const requestId = findRequestId(headers, body.requestId);
  const hasId = findId(toFields(value)) !== undefined;
  const kind = classifyErrorInSuccess(body, charge, task === 'creates', hasId);
  throw new ReadFailure({ kind, phase: 'body', status, headers, body, text, requestId });
}

/**
 * Creates the failure for JSON that is not a result. Gateways other than OpenAI put error messages anywhere.
 */
export function notResult(
  value: unknown,
  answer: Answer,
  problem: string,
  text: string,
  kind: FailureKind = 'unusable_answer',
): ReadFailure {
  // `error` would repeat the text.
  const body = { ...readErrorValue(value), error: undefined };
  const requestId = answer.requestId ?? body.requestId;
  return new ReadFailure({ ...unusable(answer, problem, text), kind, body, requestId });
}

/** Creates the failure for text that is not JSON. */
export function notJSON(text: string, answer: Answer): ReadFailure {
  const kind = detectFormat(text);
  if (kind === 'nothing') return new ReadFailure(unusable(answer, 'the response is empty.'));
  const problem =
    kind === 'markup'
      ? 'the response is an HTML page instead of JSON. Gateways send it for unknown paths: check baseURL, and the vendor prefix if there is one.'
      : 'the response is not JSON.';
  return new ReadFailure(unusable(answer, problem, text));
}

/** Parses text as JSON, whatever its content type, and applies the checks of the call. */
function readJSON(text: string, answer: Answer, parse?: (text: string) => unknown): unknown {
  const value = parseJSON(text, parse);
  if (typeof value !== 'object' || value === null) throw notJSON(text, answer);
  throwIfError(value, answer, text);
  const { spec, response } = answer;
  return spec.adapt ? spec.adapt(value, response.headers) : value;
}

/** Returns the value for JSON that is another result than expected, such as the id of a task. */
export type ReadOther<Other> = (
  /** The parsed response; `undefined` if it was empty. */
  value: unknown,
  request: Request,
  answer: Answer,
  text: string,
) => Other | undefined;

/** Parses a response. `other` is set if it is another result than expected. */
export function readWhole<Other>(
  request: Request,
  answer: Answer,
  text: string,
  parse?: (text: string) => unknown,
  readOther?: ReadOther<Other>,
): { readonly value: unknown; readonly other?: Other | undefined } {
  if (readOther === undefined) return { value: readJSON(text, answer, parse) };
  const value = detectFormat(text) === 'nothing' ? undefined : readJSON(text, answer, parse);
  const other = readOther(value, request, answer, text);
  if (other === undefined && value === undefined) throw notJSON(text, answer);
  return { value, other };
}

/** Details of a call besides its result. */
export interface CallInfo {
  readonly callId: string;
  readonly requestId: string | undefined;
  readonly status: number;
}

interface JSONAnswer<T> {
  readonly schema: ResponseSchema<T>;
  /** Assembles the result from an event stream that was sent instead of JSON. */
  readonly fromEvents?: (request: Request, answer: Answer) => Promise<T>;
  /** Reads a file that was sent instead of JSON. */
  readonly fromFile?: {
    /** @param beginning - The first bytes, as text. */
    readonly isFile: (type: string, beginning: string) => boolean;
    readonly toValue: (bytes: Uint8Array, type: string) => JsonObject;
  };
}

/** Bytes needed to recognize a file. */
const fileHead = 12;

/**
 * Reads a JSON response.
 *
 * @param finish - Adds details that the response lacks, or replaces the value.
 */
export function jsonAnswer<T>(answer: JSONAnswer<T>): AnswerFormat<T, 'json'>;
export function jsonAnswer<T, Value>(
  answer: JSONAnswer<T>,
  finish: (value: T, info: CallInfo) => Value | Promise<Value>,
): AnswerFormat<Value, 'json'>;
export function jsonAnswer<T, Other>(
  answer: JSONAnswer<T> & { readonly readOther: ReadOther<Other> },
  finish: (value: T | Other, info: CallInfo) => T | Other,
): AnswerFormat<T | Other, 'json'>;
/* @__NO_SIDE_EFFECTS__ */
export function jsonAnswer<T>(
  {
    schema,
    readOther,
    fromEvents,
    fromFile,
  }: JSONAnswer<T> & { readonly readOther?: ReadOther<T> },
  finish?: (value: T, info: CallInfo) => unknown,
): AnswerFormat<unknown, 'json'> {
  return {
    kind: 'json',
    async read(request, given) {
      let answer = given;
      let isStream = false;
      let isFile = false;
      const type = readContentType(answer.response);
      if (fromFile && !/\bjson\b|event-stream/.test(type)) {
        let beginning: string;
        ({ beginning, answer } = await peek(answer, fileHead));
        isFile = fromFile.isFile(type, beginning);
      }
      if (fromEvents && readContentType(answer.response).includes('event-stream')) {
        // Read as a stream, with its time limits, so that the content so far is not lost if it breaks off.
        let beginning: string;
        ({ beginning, answer } = await peek(answer, fieldLength));
        isStream = detectFormat(beginning) === 'events';
      }
      let value: T;
      if (fromFile && isFile) {
        const bytes = await readFile(answer, request.settings.maxResponseBytes);
        value = readValue(fromFile.toValue(bytes, type), schema, request.check);
      } else if (fromEvents && isStream) {
        request.scope.clearLimits();
        value = await fromEvents(request, answer);
      } else {
        const text = await readText(answer, request.settings.maxResponseBytes);
        value =
          fromEvents && detectFormat(text) === 'events'
            ? await fromEvents(request, {
                ...answer,
                response: new Response(text, answer.response),
              })
            : fromJSON(request, answer, text, schema, readOther);
      }
      const { requestId, response } = answer;
      attachRequestId(value, requestId);
      if (finish === undefined) return { value };
      const { status } = response;
      return { value: await finish(value, { callId: request.id, requestId, status }) };
    },
  };
}

function fromJSON<T>(
  request: Request,
  answer: Answer,
  body: string,
  schema: ResponseSchema<T>,
  readOther: ReadOther<T> | undefined,
): T {
  // The message of a failed task can become an error, which must not contain the key.
  const isTask = request.spec.task !== undefined;
  const text = isTask ? request.redaction.withoutKeys(body) : body;
  const { value: received, other } = readWhole(request, answer, text, schema.parse, readOther);
  if (other !== undefined) return other;
  const value = schema.locate === undefined ? received : schema.locate(received);
  const content = schema.answer;
  const found = content === undefined ? value : findContent(value, content);
  if (content !== undefined && found === undefined) {
    const problem = `the response is JSON, but contains no ${content.name}.`;
    // A repeated read would have the same response.
    const kind = answer.spec.charge === 'free' ? 'undecided' : 'unusable_answer';
    throw notResult(value, answer, problem, text, kind);
  }
  return readChecked(request, answer, found, schema, text);
}

/** Returns the value with the content, which some gateways wrap in `data`; `undefined` if there is none. */
function findContent(
  value: unknown,
  content: NonNullable<ResponseSchema<unknown>['answer']>,
): unknown {
  const holdsContent = (found: unknown): boolean => isObject(found) && content.isIn(found);
  if (holdsContent(value)) return value;
  const data = unwrapData(value);
  return holdsContent(data) ? data : undefined;
}

/** Compares a value with its schema and reports differences, which are errors in strict mode. */
function readChecked<T>(
  request: Request,
  answer: Answer,
  value: unknown,
  schema: ResponseSchema<T>,
  text: string,
): T {
  let data: T;
  try {
    data = readValue(value, schema, request.check);
  } catch (error) {
    if (!(error instanceof ShapeMismatch)) throw error;
    const { issues, message } = error;
    throw request.toError({ ...unusable(answer, message, text), issues, data: value });
  }
  const fault = schema.fault?.(data);
  if (fault === undefined) return data;
  throw request.toError({ ...unusable(answer, `the response ${fault}.`, text), data });
}

/**
 * Reads a text response, which may be JSON nevertheless.
 *
 * @param fromText - Converts the text, with a function for parsed JSON and the content type, or returns the problem
 *   with it.
 * @param fromEvents - Assembles a result from an event stream that was sent instead.
 */
export function textAnswer<T>(
  fromText: (
    text: string,
    read: <Parsed>(value: unknown, schema: ResponseSchema<Parsed>) => Parsed,
    type: string,
  ) => { readonly value: T } | { readonly problem: string },
  fromEvents?: (request: Request, answer: Answer) => Promise<unknown>,
): AnswerFormat<T, 'text'> {
  return {
    kind: 'text',
    async read(request, given) {
      let answer = given;
      let isStream = false;
      if (fromEvents && readContentType(answer.response).includes('event-stream')) {
        let beginning: string;
        ({ beginning, answer } = await peek(answer, fieldLength));
        isStream = detectFormat(beginning) === 'events';
      }
      const text =
        fromEvents && isStream
          ? JSON.stringify(await fromEvents(request, answer))
          : await readText(answer, request.settings.maxResponseBytes);
      if (isHTMLPage(text)) throw notJSON(text, answer);
      throwIfError(parseJSON(text), answer, text);
      const result = fromText(
        text,
        (value, schema) => readChecked(request, answer, value, schema, text),
        readContentType(answer.response),
      );
      if ('problem' in result) throw new ReadFailure(unusable(answer, result.problem, text));
      attachRequestId(result.value, answer.requestId);
      return result;
    },
  };
}

/**
 * Reads JSON as its parsed value, other text as text, a 204 as `null`, and an empty body labelled JSON as
 * `undefined`.
 */
export const valueAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  read: (request, answer) =>
    textAnswer((text) => {
      const isLabelled = /\bjson\b/.test(readContentType(answer.response));
      const looksLikeJSON = detectFormat(text) === 'json';
      const value = isLabelled || looksLikeJSON ? parseJSON(text) : undefined;
      if (value !== undefined) return { value };
      if (isLabelled && looksLikeJSON) return { problem: 'the response is not JSON.' };
      if (answer.response.status === 204) return { value: null };
      return { value: isLabelled && text === '' ? undefined : text };
    }).read(request, answer),
};
