import type { OperationReturning } from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import { readValue, ShapeMismatch, type Reader } from '../answers/reader.ts';
import type { StreamContext, StreamProtocol } from '../streams/protocol.ts';
import type { Stream } from '../streams/stream.ts';
import { binaryAnswer, type FileInJSON, rawAnswer } from './binary-answer.ts';
import { specOf, type CallSpec, type RequestSource } from './call-spec.ts';
import { eventAnswer, eventsInstead, looksLikeEvents, streamContextOf } from './event-answer.ts';
import { LogicalCall, type BodyReader } from './logical-call.ts';
import { GatewayPromise, type Answer, type AnswerReader } from './promise.ts';
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
import { applyHeaders } from './headers.ts';
import { checkRequestOptions } from '../check.ts';
import { attachRequestId } from './request-id.ts';
import { mergeCallSettings, type ClientSettings } from './settings.ts';
import { buildQuery } from './url.ts';

/** What is known of a call besides its answer. */
export interface CallInfo {
  readonly callId: string;
  /** The root of the gateway that answered. */
  readonly baseURL: string;
  readonly requestId: string | undefined;
  readonly headers: Headers;
}

/** How the JSON answer of an operation becomes what the caller gets. */
export interface JSONAnswer<T> {
  readonly reader: Reader<T>;
  /** Puts an event stream together that came although a whole answer was asked for. */
  readonly fromEvents?: (response: Response, context: StreamContext) => Promise<T>;
  /** Adds to the value what the answer itself does not say. */
  readonly finish?: (value: T, info: CallInfo) => void;
}

/** Reads parsed JSON that came as the answer of the operation, and reports what differs. */
export type ReadParsed = <T>(value: unknown, reader: Reader<T>) => T;

/** How the text answer of an operation becomes what the caller gets; a string is a complaint. */
export type TextAnswer<T> = (
  text: string,
  read: ReadParsed,
) => { readonly value: T } | { readonly problem: string };

/** A call that has been sent, as a `GatewayPromise` or one of its subclasses takes it. */
export interface SentCall<T> {
  readonly answer: Promise<Answer>;
  readonly reader: AnswerReader<T>;
}

function promiseOf<T>({ answer, reader }: SentCall<T>): GatewayPromise<T> {
  return new GatewayPromise(answer, reader);
}

/** All that a resource knows of HTTP. */
export class Transport {
  readonly #client: ClientSettings;

  constructor(client: ClientSettings) {
    this.#client = client;
  }

  /** The root of the gateway. */
  get baseURL(): string {
    return this.#client.base.root;
  }

  /** How this client's video submissions travel. */
  get bodyFormat(): 'form' | 'json' {
    return this.#client.bodyFormat;
  }

  /** Makes downloads stand in the line of another client: a gateway counts those of both together. */
  joinLineOf(other: Transport): void {
    if (other.baseURL === this.baseURL) this.#client.downloads = other.#client.downloads;
  }

  /**
   * Checks the options of calls that are made later, if at all.
   *
   * @throws `InvalidInputError` naming the option that cannot work
   */
  checkOptions(options: RequestOptions): void {
    checkRequestOptions(options);
    mergeCallSettings(this.#client.call, options);
    applyHeaders(new Headers(), options.headers, 'headers');
    buildQuery(options.query);
  }

  /** Calls an operation that answers with JSON. */
  json<Name extends OperationReturning<'json'>, T>(
    operation: Name,
    request: RequestSource<Name>,
    answer: JSONAnswer<T>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    return promiseOf(this.sendJSON(operation, request, answer, options));
  }

  /** The same as `json`, for a resource that has a promise class of its own. */
  sendJSON<Name extends OperationReturning<'json'>, T>(
    operation: Name,
    request: RequestSource<Name>,
    answer: JSONAnswer<T>,
    options: RequestOptions | undefined,
  ): SentCall<T> {
    return this.#send(
      () => specOf(operation, request, 'application/json', options),
      (call, received) => this.#readJSON(call, received, answer),
    );
  }

  /** Calls an operation that may answer with text. */
  text<Name extends OperationReturning<'text'>, T>(
    operation: Name,
    request: RequestSource<Name>,
    read: TextAnswer<T>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    return promiseOf(
      this.#send(
        () => specOf(operation, request, '*/*', options),
        (call, received) => this.#readText(call, received, read),
      ),
    );
  }

  /** Calls an operation that answers with a file. */
  binary<Name extends OperationReturning<'binary'>>(
    operation: Name,
    request: RequestSource<Name>,
    options: RequestOptions | undefined,
    fileIn?: FileInJSON,
  ): GatewayPromise<Response> {
    return promiseOf(
      this.#send(
        () => specOf(operation, request, '*/*', options),
        (call, received) => binaryAnswer(call, received, fileIn),
      ),
    );
  }

  /** Calls an operation and opens its event stream. */
  events<Name extends OperationReturning<'events'>, T>(
    operation: Name,
    request: RequestSource<Name>,
    protocol: StreamProtocol<T>,
    options: RequestOptions | undefined,
  ): GatewayPromise<Stream<T>> {
    return promiseOf(
      this.#send(
        () => specOf(operation, request, 'text/event-stream', options),
        (call, received) => eventAnswer(call, received, protocol, this.#client.drift),
      ),
    );
  }

  /** Calls a route that is not documented; gives parsed JSON, or text when it is not JSON. */
  raw(makeSpec: (client: ClientSettings) => CallSpec): GatewayPromise<unknown> {
    return promiseOf(
      this.#send<unknown>(
        () => makeSpec(this.#client),
        async (call, received) => {
          const text = await readText(received, call.settings.maxResponseBytes);
          return { value: readAnything(text, received) };
        },
      ),
    );
  }

  #send<T>(
    makeSpec: () => CallSpec,
    readBody: (call: LogicalCall, received: Answer) => ReturnType<BodyReader<T>>,
  ): SentCall<T> {
    let call: LogicalCall;
    try {
      call = new LogicalCall(makeSpec(), this.#client);
    } catch (error) {
      // Bad input rejects like everything else, so that one `catch` serves for all.
      return {
        answer: Promise.reject(error),
        reader: { parse: () => Promise.reject(error), raw: ({ response }) => response },
      };
    }
    return {
      answer: call.send(),
      reader: {
        parse: (answer) => call.read(answer, (received) => readBody(call, received)),
        raw: (answer) => rawAnswer(call, answer),
      },
    };
  }

  async #readJSON<T>(
    call: LogicalCall,
    received: Answer,
    { reader, fromEvents, finish }: JSONAnswer<T>,
  ): Promise<{ value: T }> {
    const events = fromEvents && (await eventsInstead(received));
    if (fromEvents && events) {
      call.scope.handOver();
      return this.#collect(call, received, events, fromEvents);
    }
    let text = await readText(received, call.settings.maxResponseBytes);
    if (fromEvents && looksLikeEvents(text)) {
      return this.#collect(call, received, new Response(text), fromEvents);
    }
    // An answer of this kind can become an error: the word of a task that failed.
    if (call.spec.operation.startsWith('videos.')) text = call.redaction.withoutKeys(text);
    const body = readJSON(text, received, reader.parse);
    const { answer } = reader;
    if (answer !== undefined && !(isObject(body) && answer.isIn(body))) {
      const problem = `the answer is JSON with no ${answer.name} in it.`;
      throw notAnswer(body, received, problem, text);
    }
    const value = this.#check(call, received, body, reader, text);
    attachRequestId(value, received.requestId);
    const { requestId, response } = received;
    finish?.(value, {
      callId: call.id,
      baseURL: this.baseURL,
      requestId,
      headers: response.headers,
    });
    return { value };
  }

  async #collect<T>(
    call: LogicalCall,
    received: Answer,
    events: Response,
    fromEvents: NonNullable<JSONAnswer<T>['fromEvents']>,
  ): Promise<{ value: T }> {
    const value = await fromEvents(events, streamContextOf(call, received, this.#client.drift));
    attachRequestId(value, received.requestId);
    return { value };
  }

  async #readText<T>(
    call: LogicalCall,
    received: Answer,
    read: TextAnswer<T>,
  ): Promise<{ value: T }> {
    const text = await readText(received, call.settings.maxResponseBytes);
    if (isPage(text)) throw notJSON(text, received);
    throwIfError(parseAnswer(text), received, text);
    const result = read(text, (value, reader) => this.#check(call, received, value, reader, text));
    if ('problem' in result) throw new ReadFailure(unusable(received, result.problem, text));
    attachRequestId(result.value, received.requestId);
    return result;
  }

  /** Checks an answer and reports what differs; in strict mode a difference is an error. */
  #check<T>(
    call: LogicalCall,
    received: Answer,
    value: unknown,
    reader: Reader<T>,
    text: string,
  ): T {
    try {
      return readValue(value, reader, {
        validation: call.settings.validation,
        onIssue: (issue) => this.#client.drift.report(call.spec.operation, issue),
      });
    } catch (error) {
      if (!(error instanceof ShapeMismatch)) throw error;
      const { issues, message } = error;
      throw call.toError({ ...unusable(received, message, text), issues, data: value }, 'unknown');
    }
  }
}
