import type {
  CallObserver,
  ObservedCall,
  ObservedEnd,
  ObservedRequest,
  ObservedResponse,
  Observer,
} from '../options.ts';
import type { JsonObject } from '../types.ts';
import type { CallScope } from '../http/abort.ts';
import type { Redaction } from '../http/redaction.ts';
import type { CallSpec, PreparedBody } from '../http/request.ts';
import type { Answer } from '../http/response-body.ts';
import type { FailedAttempt } from '../http/retry.ts';
import type { CallSettings, ClientSettings, LogDetails } from '../http/settings.ts';
import { nodeProcess } from '../node-process.ts';
import type { CallRecord, Ending } from './calls.ts';
import { deepCopy, lazyCopy } from './view.ts';

/** What is told of a call. */
interface WatchedCall {
  readonly id: string;
  readonly spec: CallSpec;
  readonly params: JsonObject;
  readonly record: CallRecord;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly scope: CallScope;
  readonly redaction: Redaction;
  readonly url: string;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
}

/** What is used here of Node's `diagnostics_channel`. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise(work: () => Promise<unknown>, message: object): Promise<unknown>;
}

const diagnostics = nodeProcess()?.getBuiltinModule?.('node:diagnostics_channel');

/** The channel of Node's `diagnostics_channel` on which calls are traced; `undefined` elsewhere. */
export const tracingChannel: TracingChannel | undefined =
  diagnostics?.tracingChannel?.('model-gateway:call');

/** Returns whether anything observes the calls of a client, be it only the log. */
export const isObserved = ({ observers, onRequest, onResponse, log }: ClientSettings): boolean =>
  log.enabled('info') ||
  tracingChannel?.hasSubscribers === true ||
  observers.length > 0 ||
  (onRequest ?? onResponse) !== undefined;

/** Tells all observers of one call. */
export type Watch = ReturnType<typeof watchCall>;

/** Lets `work` be called once. */
function once(work: () => void): () => void {
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    work();
  };
}

const ignored = (): void => {};

/** Who is told of the calls of a client. */
function observersOf(
  { observers, onRequest, onResponse }: ClientSettings,
  channel: TracingChannel | undefined,
): readonly Observer[] {
  const all = [...observers];
  // Two observers: when one function throws, the other is called all the same.
  if (onRequest) all.push({ start: () => ({ attempt: (request) => onRequest(request) }) });
  if (onResponse) {
    all.push({ start: () => ({ attempt: (request) => (answer) => onResponse(answer, request) }) });
  }
  if (channel?.hasSubscribers === true) all.push(channelObserver(channel));
  return all;
}

/**
 * Tells Node's tracing channel: the message is what `start()` of an observer is told, with the attempts
 * and at last the end. Its promise settles when the call has ended.
 */
function channelObserver(channel: TracingChannel): Observer {
  return {
    start(call) {
      let answer: () => unknown = ignored;
      const message = {
        ...call,
        attempts: new Array<object>(),
        end: {},
        get result() {
          return answer();
        },
        // `tracePromise` sets it.
        set result(_) {},
      };
      let finish: ((end: ObservedEnd) => void) | undefined;
      const ended = new Promise<unknown>((resolve, reject) => {
        finish = ({ error }) => (error === undefined ? resolve(undefined) : reject(error));
      });
      // Who made the call is told of its failure.
      ended.catch(ignored);
      let traced: Promise<unknown> | undefined;
      return {
        run(work) {
          const begin = (): Promise<unknown> => {
            work();
            return ended;
          };
          traced ??= channel.tracePromise(begin, message);
          traced.catch(ignored);
        },
        attempt(request) {
          const attempt = { request };
          message.attempts.push(attempt);
          return (response) => void Object.assign(attempt, { response });
        },
        end(end) {
          message.end = end;
          answer = () => end.answer;
          finish?.(end);
        },
      };
    },
  };
}

/**
 * Begins to tell the observers of a call. None of them can do harm: neither by throwing, now or later, nor
 * by running the work of a call twice or never, which would charge twice or lose it.
 */
export function watchCall(call: WatchedCall, stream: boolean, channel: TracingChannel | undefined) {
  const { id: callId, client, spec, record, redaction, scope, settings } = call;
  const { origin, pathname } = new URL(call.url);
  const { operation, method } = spec;
  const fail = (error: unknown): void =>
    client.log.write('error', 'An observer failed', { callId, error: String(error) });
  const log = (level: 'info' | 'debug', message: string, details: LogDetails): void =>
    client.log.write(level, message, { callId, operation, ...details });
  const sinceStart = (): number => Math.round(performance.now() - call.startedAt);
  const safely = <T>(tell: () => T): T | undefined => {
    try {
      const told = tell();
      // An asynchronous function throws later.
      Promise.resolve(told).catch(fail);
      return told;
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
  const observers = observersOf(client, channel);
  const begun = observers.length > 0 ? safely(() => describeCall(call, stream)) : undefined;
  const start = (one: Observer) => (begun && safely(() => one.start(begun))) ?? [];
  let watching = observers.flatMap(start);
  const each = <T>(tell: (one: CallObserver) => T) =>
    watching.map((one) => safely(() => tell(one)));
  let requestId: string | undefined;
  let attempts = 0;
  let answeredAt = performance.now();
  let answered: ((answer: Answer | FailedAttempt) => void) | undefined;
  const end = (ending: Ending): void => {
    clearTimeout(unread);
    const { error, verdict } = ending;
    if (verdict !== undefined) {
      const { name, message } = error instanceof Error ? error : {};
      log('debug', 'Stream ended', { verdict, error: name, message, durationMs: sinceStart() });
    }
    if (watching.length === 0) return;
    const told = describeEnd(ending, record, requestId);
    each((one) => one.end?.(told));
    // Nothing follows.
    watching = [];
  };
  let unread: ReturnType<typeof setTimeout> | undefined;
  scope.onReading = (isRead) => {
    clearTimeout(unread);
    if (isRead || watching.length === 0) return;
    unread = setTimeout(() => end({}), settings.timeout);
    // In runtimes where a timer keeps the process alive.
    if (typeof unread === 'object') unread.unref();
  };
  return {
    trace: each(({ trace }) => trace).find((trace) => typeof trace === 'string'),
    run<T>(work: () => T): T {
      const results: T[] = [];
      const begin = watching.reduce(
        (inner, one) =>
          once(() => {
            safely(() => one.run?.(inner));
            inner();
          }),
        once(() => results.push(work())),
      );
      begin();
      const [result = work()] = results;
      return result;
    },
    firstChunk: once(() => each((one) => one.firstChunk?.())),
    /** An attempt is about to be sent. */
    attempt(headers: Headers, { body }: PreparedBody): void {
      const sentAt = performance.now();
      attempts += 1;
      const attempt = record.attempts.length + 1;
      log('debug', 'Sending', { method, url: origin + pathname, attempt });
      const request: ObservedRequest = {
        operation,
        callId,
        attempt: attempts,
        delayMs: attempts === 1 ? 0 : Math.round(sentAt - answeredAt),
        method,
        url: origin + pathname,
        headers: Object.fromEntries(
          [...headers].map(([name, value]) => [
            name,
            redaction.isSecret(name, value) ? '[key]' : value,
          ]),
        ),
        body: typeof body === 'string' ? body : fieldsOf(spec),
      };
      const tell = each((one) => one.attempt?.(request));
      answered = (answer) => {
        const durationMs = Math.round(performance.now() - sentAt);
        const response = describeAnswer(answer, redaction, durationMs);
        for (const one of tell) if (typeof one === 'function') safely(() => one(response));
      };
    },
    /** What has become of the attempt that was sent last. */
    answered(answer: Answer | FailedAttempt): void {
      ({ requestId } = answer);
      if ('response' in answer) {
        const { status } = answer.response;
        log('info', 'Answered', { status, requestId, durationMs: sinceStart() });
      }
      answered?.(answer);
      answeredAt = performance.now();
      answered = undefined;
    },
    /** An attempt has failed that may have left the caller, also after its answer had begun. */
    failed({ kind, code, status, requestId: id, body, problem }: FailedAttempt): void {
      // The gateway's own words are for `debug` only.
      const said = client.log.enabled('debug') && { message: body?.message ?? problem };
      const details = { kind, code: body?.code ?? code, ...said, status, requestId: id };
      log('info', 'Attempt failed', details);
    },
    /** @param delayMs - `undefined` when it is not sent again because too many calls fail. */
    retrying({ kind, status }: FailedAttempt, delayMs: number | undefined): void {
      if (delayMs !== undefined) log('info', 'Retrying', { kind, status, delayMs });
      else log('info', 'Not retrying: too many calls of this client fail', {});
    },
    gaveUp: ({ name }: Error): void => log('debug', 'Call failed', { error: name }),
    end,
  };
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const isPlain = (value: unknown): value is string | number | boolean =>
  /^(string|number|boolean)$/.test(typeof value);

/**
 * The fields of a form. A list repeats its field, and an object travels as JSON. Of a file only a `Blob`
 * can be handed out: a stream could be used up.
 */
function fieldsOf({ form, options }: CallSpec): ObservedRequest['body'] {
  const extra = options?.extraBody ?? {};
  const given = form?.fields?.filter(([name]) => !Object.hasOwn(extra, name));
  const all = given?.concat(Object.entries(extra));
  return all?.flatMap(([name, value, purpose]) => {
    const isFile = purpose !== undefined;
    const isRepeated = Array.isArray(value) && (isFile || value.every(isPlain));
    const list: readonly unknown[] = isRepeated ? value : [value];
    return list.flatMap((one): [string, string | number | boolean | Blob][] => {
      if (one === undefined || one === null) return [];
      if (isPlain(one) || one instanceof Blob) return [[name, one]];
      return [[name, isFile ? '[file]' : JSON.stringify(one)]];
    });
  });
}

function describeCall(call: WatchedCall, stream: boolean): ObservedCall {
  const { id: callId, spec, client, record } = call;
  const { operation, charge: chargeClass, trace } = spec;
  const params: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(call.params)) if (isPlain(value)) params[name] = value;
  const model = textOf(record.model);
  const baseURL = client.findBase()?.root ?? '';
  return { operation, chargeClass, callId, model, baseURL, stream, params, trace };
}

/** @param answer - A failure is one from which keys were taken out. */
function describeAnswer(
  answer: Answer | FailedAttempt,
  redaction: Redaction,
  durationMs: number,
): ObservedResponse {
  const { requestId } = answer;
  if ('response' in answer) {
    const { status, headers } = answer.response;
    const shown = withoutCookies(redaction.headers(headers));
    const nothing = { code: undefined, message: undefined, body: undefined };
    return { status, headers: shown, requestId, ...nothing, durationMs };
  }
  const { status, headers = new Headers(), body, problem } = answer;
  const content = lazyCopy(body?.error);
  return {
    status,
    headers: withoutCookies(headers),
    requestId,
    code: body?.code ?? answer.code,
    message: body?.message ?? problem,
    get body() {
      return content();
    },
    durationMs,
  };
}

function withoutCookies(headers: Headers): Record<string, string> {
  const { 'set-cookie': _, ...shown } = Object.fromEntries(headers);
  return shown;
}

function describeEnd(
  ending: Ending,
  { end }: CallRecord,
  received: string | undefined,
): ObservedEnd {
  const { error, progress, isWhole } = ending;
  const answer = ending.answer ?? progress?.partial;
  const said = objectOf(answer);
  const choices = said['choices'] ?? said['candidates'];
  const thrown: { readonly outcome?: ObservedEnd['outcome']; readonly requestID?: string } =
    Object(error);
  const { outcome = 'unknown' } = thrown;
  const content = lazyCopy(answer);
  return {
    outcome: error !== undefined ? outcome : isWhole ? 'completed' : 'incomplete',
    error,
    get answer() {
      return content();
    },
    usage: end?.usage && objectOf(deepCopy(end.usage)),
    finishReasons: (Array.isArray(choices) ? choices : []).flatMap((choice) => {
      const { finish_reason: inChat, finishReason } = objectOf(choice);
      return textOf(inChat ?? finishReason) ?? [];
    }),
    responseId: textOf(said['id'] ?? said['responseId']),
    responseModel: textOf(said['model'] ?? said['modelVersion']),
    requestId: thrown.requestID ?? received,
  };
}
