import { check, checkFunction } from '../../options/check.ts';
import { errorMessage } from '../../answers/objects.ts';
import type { ResponseKind } from '../../endpoints.ts';
import type { FallbackModel, RequestOptions } from '../../options/options.ts';
import { copyParams, peek } from '../../options/snapshot.ts';
import type { AnswerFormat, LogicalCall } from '../../calls/call.ts';
import { asksNextModel, mayPayTwice, reasonFor } from './reason.ts';
import { addReason, type RequestPolicy } from './next-request.ts';
import type { Change } from '../../http/request.ts';
import type { ClientSettings } from '../../calls/settings.ts';
import type { JsonObject } from '../../types.ts';

/** Operations whose requests name a model that another one can replace. */
const supported = /^(chat|generate|images|audio)\.|^videos\.create$/;

/**
 * Returns how a call continues after a failure: first by the policy `before`, then with the models of `fallback`.
 *
 * @param isFixed - `true` for a call by path, whose parameters cannot change.
 * @throws `InvalidInputError` if the options do not fit the call
 */
export function withFallback(
  call: LogicalCall,
  isFixed: boolean,
  before?: RequestPolicy,
): RequestPolicy | undefined {
  const { client, params, settings, spec } = call;
  const { fallback, fallbackOn, retryUnknownOutcome } = settings;
  if (fallback === null) return before;
  const { operation, charge, options } = spec;
  const isOwn = (options?.fallback ?? undefined) !== undefined;
  if (isFixed || !supported.test(operation)) return before;
  const same = fallback.findIndex(({ model }) => model === params['model']);
  // The list of a client may contain the model of the call.
  check(same < 0 || !isOwn, `fallback[${same}]`, 'is the model of the call; pass other models.');
  checkStreaming(fallback, params);
  const onFallback = options?.onFallback ?? client.original().onFallback;
  checkFunction('onFallback', onFallback);
  const remaining = fallback.filter(({ model }) => model !== params['model']);
  const next: RequestPolicy['next'] = (failed) => {
    const change = before?.next(failed);
    if (change !== undefined) return change;
    const { error, failure } = failed;
    const [following] = remaining;
    if (following === undefined || failure === undefined) return undefined;
    const reason = reasonFor(failure);
    const { outcome } = error;
    if (!asksNextModel({ reason, outcome, charge, retryUnknownOutcome, fallbackOn }))
      return undefined;
    if (!failed.call.isReplayable) {
      addReason(error, 'Its body is a stream, which cannot be read again.');
      return undefined;
    }
    remaining.shift();
    const { model: from } = failed.call.params;
    const { model: to } = following;
    const details = { callId: call.id, operation, from: String(from), to, reason };
    client.log.write('info', 'Requesting the next model', details);
    const fail = (thrown: unknown): void =>
      client.log.write('error', 'onFallback failed', { ...details, error: errorMessage(thrown) });
    try {
      const event = { from: typeof from === 'string' ? from : undefined, to, error };
      // An asynchronous function throws later.
      Promise.resolve(onFallback?.(event)).catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
    return following;
  };
  const mayFollow = mayPayTwice(charge, retryUnknownOutcome);
  return {
    next,
    holdsStream: () => (remaining.length > 0 && mayFollow) || before?.holdsStream() === true,
  };
}

/** Rejects models that change whether the response is streamed: the call has only one type of result. */
function checkStreaming(fallback: readonly FallbackModel[], params: JsonObject): void {
  for (const [index, model] of fallback.entries()) {
    for (const name of ['stream', 'stream_format']) {
      const isSame =
        !Object.hasOwn(model, name) || (model[name] || null) === (params[name] || null);
      const problem = 'must be the same as in the call; omit it.';
      check(isSame, `fallback[${index}].${name}`, problem);
    }
  }
}

/**
 * Returns a function that creates the parameters of each request of a call. If further requests are possible,
 * it copies them first, because the caller may change them before the next request.
 *
 * @param hasPolicy - `true` if the call may have further requests without fallbacks too.
 */
export function changeable<Params extends object>(
  { client }: { readonly client: ClientSettings },
  params: Params,
  options: RequestOptions | undefined,
  hasPolicy = false,
): (change?: Change) => Params {
  const hasFallback = (peek(options, 'fallback') ?? client.call.fallback) !== null;
  const own = hasFallback || hasPolicy ? copyParams(params) : params;
  return (change) => (change === undefined ? own : { ...own, ...change });
}

/** A format that depends on parameters of the request. */
interface FormatByParams<Params, T, Kind extends ResponseKind> extends AnswerFormat<T, Kind> {
  /** Reads the next response by the parameters of its request. Returns the parameters. */
  use(params: Params): Params;
}

/**
 * Returns a format that is created for the parameters of each request, because a fallback may change them.
 *
 * @param params - The parameters of the call, which are not checked yet.
 */
export function formatByParams<Params, T, Kind extends ResponseKind>(
  kind: Kind,
  params: Params,
  create: (params: Params) => AnswerFormat<T, Kind>,
): FormatByParams<Params, T, Kind> {
  let current = params;
  let format = create(params);
  return {
    kind,
    use(changed) {
      if (changed !== current) format = create((current = changed));
      return changed;
    },
    read: (call, answer) => format.read(call, answer),
  };
}
