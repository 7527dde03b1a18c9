import { check, checkFunction } from '../../options/check.ts';
import type {
  CallObserver,
  GatewayOptions,
  GatewayPolicy,
  ObservedCall,
  ObservedEnd,
  ObservedRequest,
  ObservedResponse,
  Observer,
} from '../../options/options.ts';
import { type OptionOf, policyTable } from '../../options/option-table.ts';
import { isObject, toFields } from '../../answers/objects.ts';
import { ledgerFor } from '../../calls/budget-ledger.ts';
import { costFrom, type Ending, type Listener, usageFrom } from '../../calls/events.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import { type Policy, type Subscriber, thisCopy } from '../../calls/transport.ts';
import type { Redaction } from '../../http/redaction.ts';
import type { CallSpec } from '../../http/request.ts';
import type { IncomingResponse } from '../../http/responses/response-body.ts';
import type { FailedAttempt } from '../../http/retry.ts';
import { deepCopy, lazyCopy } from './view.ts';

/** Returns a function that runs `work` at its first call only. */
function once(work: () => void): () => void {
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    work();
  };
}

export const observing: Policy<OptionOf<'observers'>> = {
  name: 'observers',
  copy: thisCopy,
  options: policyTable.observers.options,
  listen: observeRequests,
};

/** Notifies the options `observer`, `onRequest` and `onResponse` of each request. */
export const withObservers = (): GatewayPolicy<OptionOf<'observers'>> => observing;

/** Returns a subscriber that notifies the observers and hooks in the options of a client. */
function observeRequests({
  observer = [],
  onRequest,
  onResponse,
}: GatewayOptions): Subscriber | undefined {
  const observers = [observer].flat();
  const areValid = observers.every((item) => typeof item?.start === 'function');
  check(areValid, 'observer', 'has no method start().');
  checkFunction('onRequest', onRequest);
  checkFunction('onResponse', onResponse);
  const addAttemptObserver = (attempt: NonNullable<CallObserver['attempt']>) =>
    observers.push({ start: () => ({ attempt }) });
  if (onRequest) addAttemptObserver((request) => onRequest(request));
  if (onResponse) addAttemptObserver((request) => (response) => onResponse(response, request));
  if (observers.length === 0) return undefined;
  return (request) => observeWith(observers, request);
}

/**
 * Notifies observers of a call. The call is not affected if an observer throws, or runs the work of the call
 * twice or never, which would charge twice or lose the call.
 */
export function observeWith(
  observers: readonly Observer[],
  request: GatewayRequest,
): Listener | undefined {
  if (observers.length === 0) return undefined;
  const { id: callId, client, spec, redaction, settings } = request;
  const { origin, pathname } = new URL(request.url);
  const { operation, method } = spec;
  const fail = (error: unknown): void =>
    client.log.write('error', 'An observer failed', { callId, error: String(error) });
  const safely = <T>(notify: () => T): T | undefined => {
    try {
      const result = notify();
      // An asynchronous function throws later.
      Promise.resolve(result).catch(fail);
      return result;
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
  const begun = safely(() => describeCall(request));
  const start = (one: Observer) => (begun && safely(() => one.start(begun))) ?? [];
  let watching = observers.flatMap(start);
  const each = <T>(notify: (one: CallObserver) => T) =>
    watching.map((one) => safely(() => notify(one)));
  let requestId: string | undefined;
  let received: Headers | undefined;
  let attempt = 0;
  let retry = 0;
  let sentAt = 0;
  let settledAt = 0;
  let callbacks: ReturnType<NonNullable<CallObserver['attempt']>>[] = [];
  let unread: ReturnType<typeof setTimeout> | undefined;

  function settleAttempt(outcome: IncomingResponse | FailedAttempt): void {
    ({ requestId } = outcome);
    received = 'response' in outcome ? outcome.response.headers : undefined;
    const pending = callbacks;
    callbacks = [];
    const durationMs = Math.round(performance.now() - sentAt);
    settledAt = performance.now();
    if (pending.length === 0) return;
    const response = describeResponse(outcome, redaction, durationMs);
    for (const callback of pending) {
      if (typeof callback === 'function') safely(() => callback(response));
    }
  }

  function end(ending: Ending): void {
    clearTimeout(unread);
    if (watching.length === 0) return;
    const cost = costFrom(request, ending, received);
    const description = describeEnd(request, ending, requestId, cost);
    each((one) => one.end?.(description));
    watching = [];
  }

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
    sent({ headers, body: { body } }) {
      sentAt = performance.now();
      attempt += 1;
      const observed: ObservedRequest = {
        operation,
        callId,
        attempt,
        delayMs: attempt === 1 ? 0 : Math.round(sentAt - settledAt),
        waitMs: request.waited === undefined ? undefined : Math.round(request.waited),
        method,
        url: origin + pathname,
        headers: Object.fromEntries(
          [...headers].map(([name, value]) => [
            name,
            redaction.isSecret(name, value) ? '[key]' : value,
          ]),
        ),
        body: typeof body === 'string' ? body : getFormFields(spec),
      };
      callbacks = each((one) => one.attempt?.(observed));
    },
    answered: settleAttempt,
    failed: settleAttempt,
    retrying({ delayMs }) {
      if (delayMs === undefined) return;
      retry += 1;
      each((one) => one.retry?.({ retry, maxRetries: settings.maxRetries, delayMs }));
    },
    chunk(isFirst) {
      if (isFirst) each((one) => one.firstChunk?.());
      each((one) => one.chunk?.());
    },
    reading(isRead) {
      clearTimeout(unread);
      if (isRead || watching.length === 0) return;
      unread = setTimeout(() => end({}), settings.timeout);
      // Timers are objects in runtimes where they keep the process alive.
      if (typeof unread === 'object') unread.unref();
    },
    ended: end,
  };
}

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const isPlain = (value: unknown): value is string | number | boolean =>
  /^(string|number|boolean)$/.test(typeof value);

/**
 * Returns the fields of a form. A list repeats its field, and an object is sent as JSON. Files are included
 * only as `Blob`, because an observer could consume a stream.
 */
function getFormFields({ form, options }: CallSpec): ObservedRequest['body'] {
  const extra = options?.extraBody ?? {};
  const formFields = form?.fields?.filter(([name]) => !Object.hasOwn(extra, name));
  const all = formFields?.concat(Object.entries(extra));
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

function describeCall(request: GatewayRequest): ObservedCall {
  const stream = request.format.kind === 'events';
  const { id: callId, spec, client } = request;
  const { operation, charge: chargeClass, trace } = spec;
  const params: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(request.params)) {
    if (isPlain(value)) params[name] = value;
    if (!isObject(value)) continue;
    for (const [key, inner] of Object.entries(value))
      if (isPlain(inner)) params[`${name}.${key}`] = inner;
  }
  const model = nonEmptyText(request.params['model']);
  const baseURL = client.findBase()?.root ?? '';
  const { model: before } = request.call.attempts.at(-1) ?? {};
  const fallbackFrom = before === model ? undefined : before;
  return { operation, chargeClass, callId, model, baseURL, stream, params, trace, fallbackFrom };
}

/** @param outcome - The response, or a failure without secrets. */
function describeResponse(
  outcome: IncomingResponse | FailedAttempt,
  redaction: Redaction,
  durationMs: number,
): ObservedResponse {
  const isResponse = 'response' in outcome;
  const { status, headers = new Headers() } = isResponse ? outcome.response : outcome;
  const { phase, code, problem, body }: Partial<FailedAttempt> = isResponse ? {} : outcome;
  const content = lazyCopy(body?.error);
  return {
    status,
    headers: withoutCookies(isResponse ? redaction.headers(headers) : headers),
    requestId: outcome.requestId,
    phase,
    code: body?.code ?? code,
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

/** Returns the finish reasons of choices or candidates, or why a response ended. */
function findReasons(fields: ReturnType<typeof toFields>): string[] {
  if (fields['object'] === 'response') {
    const { reason = fields['status'] } = toFields(fields['incomplete_details']);
    return [nonEmptyText(reason) ?? []].flat();
  }
  const choices = fields['choices'] ?? fields['candidates'];
  return (Array.isArray(choices) ? choices : []).flatMap((choice) => {
    const { finish_reason: inChat, finishReason } = toFields(choice);
    return nonEmptyText(inChat ?? finishReason) ?? [];
  });
}

/** Returns how many attempts of a request may have been charged without a response. */
function countPossibleCharges(
  { history, spec, settings }: GatewayRequest,
  isUnknown: boolean,
): number {
  if (spec.charge === 'free') return 0;
  const counted = settings.idempotency?.honored === true ? 0 : history.lost;
  return isUnknown ? Math.max(1, counted) : counted;
}

/** Returns the state of the client's budget; `undefined` without one. */
function describeBudget({ client }: GatewayRequest): ObservedEnd['budget'] {
  const { budget } = client.original();
  if (!budget) return undefined;
  const { spent, reserved } = ledgerFor(budget);
  return { limit: budget.limit, spent, reserved };
}

function describeEnd(
  request: GatewayRequest,
  ending: Ending,
  received: string | undefined,
  cost: number | undefined,
): ObservedEnd {
  const { error, progress, isWhole } = ending;
  const result = ending.result ?? progress?.partial;
  const fields = toFields(result);
  const thrown: { readonly outcome?: ObservedEnd['outcome']; readonly requestID?: string } =
    Object(error);
  const { outcome: failed = 'unknown' } = thrown;
  const outcome = error !== undefined ? failed : isWhole ? 'completed' : 'incomplete';
  const content = lazyCopy(result);
  const usage = usageFrom(ending);
  return {
    outcome,
    error,
    get answer() {
      return content();
    },
    usage: usage && toFields(deepCopy(usage)),
    cost,
    finishReasons: findReasons(fields),
    responseId: nonEmptyText(fields['id'] ?? fields['responseId']),
    responseModel: nonEmptyText(fields['model'] ?? fields['modelVersion']),
    requestId: thrown.requestID ?? received,
    attempts: request.history.attempts.map((attempt) => request.history.name(attempt)),
    possibleCharges: countPossibleCharges(request, outcome === 'unknown'),
    budget: describeBudget(request),
  };
}
