import { numberFrom } from '../../answers/objects.ts';
import { estimateTokens } from '../../answers/token-estimate.ts';
import { type Ending, usageFrom } from '../../calls/events.ts';
import type { Subscriber } from '../../calls/transport.ts';
import type { ClientLimits } from '../../options/options.ts';
import { Limits, type Turn } from './limits.ts';

/** Returns the number of tokens that a response reports. */
function tokensFrom(ending: Ending): number | undefined {
  const { total_tokens: total, totalTokenCount: gemini = total } = usageFrom(ending) ?? {};
  return numberFrom(gemini);
}

/** The state of each client's limits, which its copies share. */
const states = new WeakMap<ClientLimits, Limits>();

/** Lets each attempt of a request wait for its turn, if the client has `limits`. */
export const limitRequests: Subscriber = (request) => {
  const { limits: options } = request.client;
  if (options === undefined) return undefined;
  const limits = states.get(options) ?? new Limits(options);
  states.set(options, limits);
  const { model } = request.params;
  const name = typeof model === 'string' ? model : undefined;
  let estimate: number | undefined;
  let turn: Turn | undefined;
  const end = (): void => {
    if (turn !== undefined) limits.end(turn);
  };
  return {
    async beforeAttempt(signal) {
      estimate ??= request.spec.charge === 'free' ? 0 : Math.ceil(estimateTokens(request.params));
      turn = undefined;
      turn = await limits.enter(name, estimate, signal);
    },
    sent() {
      if (turn !== undefined) limits.sent(turn);
    },
    answered({ response }) {
      if (turn !== undefined) limits.answered(turn, response.headers);
    },
    failed({ status, headers }) {
      if (turn !== undefined && headers !== undefined) limits.failed(turn, status, headers);
      end();
    },
    submitted: end,
    ended(ending) {
      const tokens = tokensFrom(ending);
      if (turn !== undefined && tokens !== undefined) limits.correct(turn, tokens);
      end();
    },
  };
};
