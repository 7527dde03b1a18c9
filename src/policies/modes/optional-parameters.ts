import type { Call } from '../../calls/call.ts';
import type { Plan } from '../../calls/plan.ts';
import type { OpenAnswer } from '../../calls/open-answer.ts';
import { type Send, sendEach } from '../../calls/send-each.ts';
import { requireBase } from '../../calls/settings.ts';
import type { FailedAttempt } from '../../http/retry.ts';

/** The parameters that were rejected, by client: gateway, model and name. */
const rejected = new WeakMap<object, Set<string>>();

/** Returns whether a provider rejected a request, uncharged, because of a parameter. */
function refuses({ kind, status, body }: FailedAttempt, name: string): boolean {
  if (kind !== 'refused' || (status !== 400 && status !== 422)) return false;
  const { param, code, message } = body ?? {};
  return `${param} ${code} ${message}`.includes(name);
}

/**
 * Sends a request, and once more without an optional parameter if a provider rejected that. Later requests for the
 * model are sent without it.
 */
export function sendOptional<T>(next: Send, call: Call, plan: Plan<T>): Promise<OpenAnswer<T>> {
  const { optional } = plan;
  if (optional.length === 0) return next(call, plan);
  const { client } = call;
  const known = rejected.get(client.shared) ?? new Set();
  rejected.set(client.shared, known);
  const model = String(plan.params['model']);
  const toKey = (name: string): string => `${requireBase(client).root} ${model} ${name}`;
  const isLeftOut = (name: string, { change }: Plan<T>): boolean =>
    Object.hasOwn(change.params, name) && change.params[name] === undefined;
  const without = (from: Plan<T>, names: readonly string[]): Plan<T> => {
    const left = Object.fromEntries(names.map((name) => [name, undefined]));
    return names.length === 0 ? from : from.with({ params: { ...from.change.params, ...left } });
  };
  const first = without(
    plan,
    optional.filter((name) => known.has(toKey(name))),
  );
  return sendEach(next, call, first, {
    next({ failure, plan: failed }) {
      if (failure === undefined) return undefined;
      const name = optional.find((each) => !isLeftOut(each, failed) && refuses(failure, each));
      if (name === undefined) return undefined;
      const details = { model, parameter: name };
      client.log.write('info', 'A parameter was rejected; the request is sent without it', details);
      return without(failed, [name]);
    },
    reading(answered) {
      for (const name of optional) if (isLeftOut(name, answered)) known.add(toKey(name));
    },
  });
}
