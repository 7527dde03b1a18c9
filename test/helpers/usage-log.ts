import type { GatewayOptions } from '../../src/index.ts';
import { isObject } from '../../src/answers/objects.ts';
import type { Emulator } from '../../src/testing/index.ts';
import { scripted } from './clients.ts';

/** An entry of the usage log as a gateway sends it, written now. */
export function logEntry(fields: object): object {
  const created_at = Math.floor(Date.now() / 1_000);
  return { id: 1, created_at, content: '', model_name: 'm-image', other: '{}', ...fields };
}

/** A client of a gateway that responds to calls as written and returns these entries of its usage log. */
export function withLogEntries(
  respond: (request: Request) => Response,
  entries: () => readonly object[],
  options: GatewayOptions = {},
) {
  const answer = (request: Request): Response => {
    if (!request.url.endsWith('/api/log/token')) return respond(request);
    if (!request.headers.has('authorization')) return new Response(null, { status: 401 });
    const headers = { date: new Date().toUTCString() };
    return Response.json({ data: entries(), message: '', success: true }, { headers });
  };
  return scripted([answer], { maxRetries: 0, ...options });
}

/** The `fetch` of an emulator whose usage log has more entries than its own. */
export function withMoreEntries(
  emulator: Emulator,
  entries: () => readonly object[],
): typeof fetch {
  return async (input, init) => {
    const response = await emulator.fetch(input, init);
    if (!new Request(input).url.endsWith('/api/log/token') || !response.ok) return response;
    const body: unknown = await response.json();
    const data = isObject(body) && Array.isArray(body['data']) ? body['data'] : [];
    return Response.json({ data: [...data, ...entries()], success: true }, response);
  };
}

/** The `fetch` of an emulator whose usage log has a failed channel for each request before anything else. */
export function withFailedChannels(emulator: Emulator): typeof fetch {
  const lag = (): number => emulator.quirks.usageLogDelay;
  return withMoreEntries(emulator, () =>
    emulator.requests
      .filter(({ method, at }) => method === 'POST' && at + lag() <= emulator.clock.now())
      .map(({ id }) => logEntry({ type: 5, quota: 0, request_id: id })),
  );
}
