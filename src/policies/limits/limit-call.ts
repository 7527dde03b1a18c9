import { numberFrom } from '../../answers/objects.ts';
import { estimateTokens } from '../../answers/token-estimate.ts';
import { type Ending, usageFrom } from '../../calls/events.ts';
import { type Policy, type Subscriber, thisCopy } from '../../calls/transport.ts';
import type { ClientLimits, GatewayPolicy } from '../../options/options.ts';
import { type OptionOf, policyTable } from '../../options/option-table.ts';
import { checkLimits, Limits, type Turn } from './limits.ts';

/** Returns the number of tokens that a response reports. */
function tokensFrom(ending: Ending): number | undefined {
  const { total_tokens: total, totalTokenCount: gemini = total } = usageFrom(ending) ?? {};
  return numberFrom(gemini);
}

/** The state of each client's limits, which its copies share. */
const states = new WeakMap<ClientLimits, Limits>();

/** Lets each attempt of a request wait for its turn. */
const limitRequest: Subscriber = (request) => {
  const { limits: options } = request.client;
  if (options === undefined) return undefined;
  const state = states.get(options) ?? new Limits(options);
  states.set(options, state);
  const { model } = request.params;
  const name = typeof model === 'string' ? model : undefined;
  let estimate: number | undefined;
  let turn: Turn | undefined;
  const end = (): void => {
    if (turn !== undefined) state.end(turn);
  };
  return {
    async beforeAttempt(signal) {
      estimate ??= request.spec.charge === 'free' ? 0 : Math.ceil(estimateTokens(request.params));
      turn = undefined;
      turn = await state.enter(name, estimate, signal);
    },
    sent() {
      if (turn !== undefined) state.sent(turn);
    },
    answered({ response }) {
      if (turn !== undefined) state.answered(turn, response.headers);
    },
    failed({ status, headers, body }) {
      if (turn !== undefined && headers !== undefined) state.failed(turn, status, headers, body);
      end();
    },
    ended(ending) {
      const tokens = tokensFrom(ending);
      if (turn !== undefined && tokens !== undefined) state.correct(turn, tokens);
      end();
    },
  };
};

export const limits: Policy<OptionOf<'limits'>> = {
  name: 'limits',
  copy: thisCopy,
  options: policyTable.limits.options,
  listen({ limits: options }) {
    checkLimits(options);
    return options ? limitRequest : undefined;
  },
};

/** Delays requests to keep within the option `limits`. */
export const withLimits = (): GatewayPolicy<OptionOf<'limits'>> => limits;
