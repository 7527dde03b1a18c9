import type { Call } from '../../../src/calls/call.ts';
import type { Plan } from '../../../src/calls/plan.ts';
import type { OpenAnswer } from '../../../src/calls/promise.ts';
import { Request } from '../../../src/calls/request.ts';
import type { Send } from '../../../src/calls/send-each.ts';
import type { Policy } from '../../../src/calls/transport.ts';

type Answer = Pick<OpenAnswer<unknown>, 'response' | 'requestId'>;
type Stored = Map<string, Answer & { readonly until: number }>;

/** Answers a repeated call from memory for a minute. */
export function withCache(): Policy {
  const stored: Stored = new Map();
  const wrap: Policy['wrap'] = (next) => (call, plan) => sendOnce(stored, next, call, plan);
  return { name: 'cache', rank: 55, options: [], asks: () => true, wrap };
}

async function sendOnce<T>(stored: Stored, next: Send, call: Call, plan: Plan<T>) {
  const { spec, params, format } = plan;
  if (format.kind !== 'json' || spec.json === undefined) return next(call, plan);
  const key = JSON.stringify([spec.operation, params]);
  const known = stored.get(key);
  if (known !== undefined && known.until > Date.now()) {
    const response = known.response.clone();
    const { requestId } = known;
    const request = new Request(call, plan);
    const read = () => format.read(request, { response, requestId, spec, scope: request.scope });
    const parse = () => read().then(({ value }) => value);
    request.release({});
    return { response, requestId, parse, raw: () => response } satisfies OpenAnswer<T>;
  }
  const open = await next(call, plan);
  const parse = open.parse.bind(open);
  const { response, requestId } = open;
  const copy = response.clone();
  open.parse = async () => {
    const value = await parse();
    // After a retry, `copy` is not the response that was parsed.
    const until = Date.now() + 60_000;
    if (open.response === response) stored.set(key, { until, requestId, response: copy });
    return value;
  };
  return open;
}
