import { open } from '../../../src/calls/attempt.ts';
import type { OpenResponse } from '../../../src/calls/open-response.ts';
import { GatewayRequest } from '../../../src/calls/gateway-request.ts';
import { readContentType } from '../../../src/calls/response.ts';
import type { Send } from '../../../src/calls/send-each.ts';
import type { ClientSettings } from '../../../src/calls/settings.ts';
import type { Policy } from '../../../src/calls/transport.ts';
import { writeJSON } from '../../../src/http/json.ts';
import { type IncomingResponse, readText } from '../../../src/http/responses/response-body.ts';

type Stored = Pick<IncomingResponse, 'response' | 'requestId'> & { text: string; until: number };

/** By client, because another one may have the key, address or headers of another tenant. */
export const answers = new WeakMap<ClientSettings, Map<string, Stored>>();

const asks: Policy['asks'] = ({ credential }) => typeof credential.reveal() !== 'function';
const wrap: Policy['wrap'] = (next) => (request) => sendOnce(next, request);
/** Answers a repeated call from memory for a minute. */
export const cache: Policy = { name: 'cache', options: [], asks, wrap };

async function sendOnce<T>(next: Send, request: GatewayRequest<T>): Promise<OpenResponse<T>> {
  const { call, client, source, spec, params, format, change } = request;
  const { headers, query, fetchOptions } = call.options ?? {};
  const isText = format.kind === 'json' && /^(chat|generate|embeddings)\./.test(spec.operation);
  if (!isText || (headers ?? query ?? fetchOptions)) return next(request);
  const known = answers.get(client) ?? new Map<string, Stored>();
  answers.set(client, known);
  for (const [key, { until }] of known) if (until <= Date.now()) known.delete(key);
  const key = `${spec.operation} ${writeJSON('', params)}`;
  const found = known.get(key);
  if (found !== undefined) {
    const response = new Response(found.text, found.response);
    return open(request, { ...found, response, spec, scope: request.scope });
  }
  const read: typeof format.read = async (sent, answer) => {
    const { response, requestId } = answer;
    // An event stream instead of JSON may not end.
    if (!readContentType(response).includes('json')) return format.read(sent, answer);
    const text = await readText(answer, sent.settings.maxResponseBytes);
    const copy = new Response(text, response);
    const result = await format.read(sent, { ...answer, response: copy });
    known.set(key, { response, requestId, text, until: Date.now() + 60_000 });
    return result;
  };
  const storing = { spec, format: { kind: format.kind, read } };
  return next(new GatewayRequest(call, source, storing, change));
}
