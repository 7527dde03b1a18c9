import type { Call } from '../../../src/calls/call.ts';
import { Plan } from '../../../src/calls/plan.ts';
import { OpenAnswer } from '../../../src/calls/open-answer.ts';
import { Request } from '../../../src/calls/request.ts';
import { readContentType } from '../../../src/calls/response.ts';
import type { Send } from '../../../src/calls/send-each.ts';
import type { ClientSettings } from '../../../src/calls/settings.ts';
import type { Policy } from '../../../src/calls/transport.ts';
import { writeJSON } from '../../../src/http/json.ts';
import { readText } from '../../../src/http/responses/response-body.ts';

type Stored = Pick<OpenAnswer<unknown>, 'response' | 'requestId'> & { text: string; until: number };

/** By client, because another one may have the key, address or headers of another tenant. */
export const answers = new WeakMap<ClientSettings, Map<string, Stored>>();

const asks: Policy['asks'] = ({ credential }) => typeof credential.reveal() !== 'function';
const wrap: Policy['wrap'] = (next) => (call, plan) => sendOnce(next, call, plan);
/** Answers a repeated call from memory for a minute. */
export const cache: Policy = { name: 'cache', options: [], asks, wrap };

async function sendOnce<T>(next: Send, call: Call, plan: Plan<T>): Promise<OpenAnswer<T>> {
  const { spec, params, format, change } = plan;
  const { headers, query, fetchOptions } = call.options ?? {};
  const isText = format.kind === 'json' && /^(chat|generate|embeddings)\./.test(spec.operation);
  if (!isText || (headers ?? query ?? fetchOptions)) return next(call, plan);
  const known = answers.get(call.client) ?? new Map<string, Stored>();
  answers.set(call.client, known);
  for (const [key, { until }] of known) if (until <= Date.now()) known.delete(key);
  const key = `${spec.operation} ${writeJSON('', params)}`;
  const found = known.get(key);
  if (found !== undefined) {
    const request = new Request(call, plan);
    request.release({});
    const response = new Response(found.text, found.response);
    const answer = { ...found, response, spec, scope: request.scope };
    const parse = () => format.read(request, answer).then(({ value }) => value);
    return new OpenAnswer({ ...answer, change, raw: () => response }, parse);
  }
  const read: typeof format.read = async (request, answer) => {
    const { response, requestId } = answer;
    // An event stream instead of JSON may not end.
    if (!readContentType(response).includes('json')) return format.read(request, answer);
    const text = await readText(answer, request.settings.maxResponseBytes);
    const copy = new Response(text, response);
    const result = await format.read(request, { ...answer, response: copy });
    known.set(key, { response, requestId, text, until: Date.now() + 60_000 });
    return result;
  };
  return next(call, new Plan(() => ({ spec, format: { kind: format.kind, read } }), { change }));
}
