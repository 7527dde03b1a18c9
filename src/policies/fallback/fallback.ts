import { errorMessage } from '../../answers/objects.ts';
import type { OpenResponse } from '../../calls/open-response.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import { addReason, type Follow, type Send, sendEach } from '../../calls/send-each.ts';
import { type Policy, thisCopy } from '../../calls/transport.ts';
import { check, checkFunction } from '../../options/check.ts';
import type { FallbackModel, GatewayPolicy } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import type { JsonObject } from '../../types.ts';
import { methods } from '../../options/methods.ts';
import { type OptionOf, policyTable } from '../../options/option-table.ts';
import { asksNextModel, mayPayTwice, reasonFor } from './reason.ts';

/** Operations whose requests name a model that another one can replace. */
const supported: ReadonlySet<string> = new Set(methods.withFallback);

export const fallback: Policy<OptionOf<'fallback'>> = {
  name: 'fallback',
  copy: thisCopy,
  options: policyTable.fallback.options,
  asks: (client, options) => (peek(options, 'fallback') ?? client.call.fallback) !== null,
  wrap: (next) => (request) => sendWithModels(next, request),
};

/** Requests the next model of the option `fallback` after a failure that another model may not have. */
export const withFallback = (): GatewayPolicy<OptionOf<'fallback'>> => fallback;

function sendWithModels<T>(next: Send, first: GatewayRequest<T>): Promise<OpenResponse<T>> {
  const { call, client, settings, params } = first;
  const { options } = call;
  const { fallback: models, fallbackOn, retryUnknownOutcome } = settings;
  const { operation, charge } = first.spec;
  const isByPath = first.source.write === undefined;
  if (models === null || isByPath || !supported.has(operation)) return next(first);
  const isOwn = (options?.fallback ?? undefined) !== undefined;
  const same = models.findIndex(({ model }) => model === params['model']);
  // The list of a client may contain the model of the call.
  check(same < 0 || !isOwn, `fallback[${same}]`, 'is the model of the call; pass other models.');
  checkStreaming(models, params);
  const onFallback = options?.onFallback ?? client.original().onFallback;
  checkFunction('onFallback', onFallback);
  const remaining = models.filter(({ model }) => model !== params['model']);
  const mayFollow = mayPayTwice(charge, retryUnknownOutcome);
  const held = first.holding(() => remaining.length > 0 && mayFollow);
  const follow: Follow<T> = {
    next({ failure, isReplayable, params: { model: from } }, error) {
      const [following] = remaining;
      if (following === undefined || failure === undefined) return undefined;
      const reason = reasonFor(failure);
      const { outcome } = error;
      const facts = { reason, outcome, charge, retryUnknownOutcome, fallbackOn };
      if (!asksNextModel(facts)) return undefined;
      if (!isReplayable) {
        addReason(error, 'Its body is a stream, which cannot be read again.');
        return undefined;
      }
      remaining.shift();
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
      return held.with({ params: { ...following } });
    },
  };
  return sendEach(next, held, follow);
}

/** Rejects models that change whether the response is streamed: the call has only one type of result. */
function checkStreaming(models: readonly FallbackModel[], params: JsonObject): void {
  for (const [index, model] of models.entries()) {
    for (const name of ['stream', 'stream_format']) {
      const isSame =
        !Object.hasOwn(model, name) || (model[name] || null) === (params[name] || null);
      const problem = 'must be the same as in the call; omit it.';
      check(isSame, `fallback[${index}].${name}`, problem);
    }
  }
}
