// ky checks each request, and this package sends it: ky itself must never send.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CallScope } from '../../src/http/abort.ts';
import type { OutgoingRequest } from '../../src/http/request.ts';
import { send } from '../../src/http/send.ts';
import type { Fetch } from '../../src/options/options.ts';
import { takeTurn } from '../helpers/fake-time.ts';
import { untyped } from '../helpers/untyped.ts';

const url = 'https://gateway.test/v1/models';

function outgoing(fetch: () => unknown, change: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    url,
    method: 'GET',
    headers: new Headers(),
    body: undefined,
    redirect: 'manual',
    scope: new CallScope(undefined, null),
    fetch: untyped<Fetch>(fetch),
    fetchOptions: undefined,
    log: { warnOnce: () => {} },
    isSent: false,
    ...change,
  };
}

describe('a request', () => {
  const global = vi.spyOn(globalThis, 'fetch');
  afterEach(() => {
    expect(global).not.toHaveBeenCalled();
    global.mockReset();
  });

  test('a request is sent once, by its own fetch, which gets the URL as text', async () => {
    const fetch = vi.fn(() => Promise.resolve(Response.json({})));

    const response = await send(outgoing(fetch));

    expect(await response.json()).toEqual({});
    expect(fetch).toHaveBeenCalledExactlyOnceWith(url, expect.objectContaining({ method: 'GET' }));
  });

  test('a request is sent once where a server has replaced the global Response', async () => {
    const RuntimeResponse = Response;
    vi.stubGlobal('Response', class extends RuntimeResponse {});
    const fetch = vi.fn(() => Promise.resolve(RuntimeResponse.json({ a: 1 })));

    const response = await send(outgoing(fetch));
    vi.unstubAllGlobals();

    expect(await response.json()).toEqual({ a: 1 });
    expect(fetch).toHaveBeenCalledOnce();
  });

  test('a request gets its own response, not that of another one', async () => {
    const requests = Array.from({ length: 20 }, (_, index) =>
      outgoing(async () => {
        for (let turn = 20; turn > index; turn -= 1) await Promise.resolve();
        return new Response(String(index));
      }),
    );

    const responses = await Promise.all(requests.map((request) => send(request)));

    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(texts).toEqual(requests.map((_, index) => String(index)));
  });

  test('a request is not sent if its URL is invalid', async () => {
    const fetch = vi.fn();
    const request = outgoing(fetch, { url: 'https://' });

    await expect(send(request)).rejects.toThrow(/URL/);

    expect(request.isSent).toBe(false);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('a request that is stopped before it is sent is never sent', async () => {
    const fetch = vi.fn();
    const controller = new AbortController();
    const request = outgoing(fetch, { scope: new CallScope(controller.signal, null) });

    const sent = send(request);
    controller.abort(new Error('enough'));

    await expect(sent).rejects.toThrow('enough');
    await takeTurn();
    expect(request.isSent).toBe(false);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('a request that is stopped later discards the response that still arrives', async () => {
    let resolve: ((response: Response) => void) | undefined;
    const promise = new Promise<Response>((settle) => {
      resolve = settle;
    });
    const cancel = vi.fn();
    const controller = new AbortController();
    const request = outgoing(() => promise, { scope: new CallScope(controller.signal, null) });
    const sent = send(request);
    await takeTurn();

    controller.abort(new Error('enough'));
    await expect(sent).rejects.toBeUndefined();
    resolve?.(new Response(new ReadableStream({ cancel })));
    await takeTurn();

    expect(request.isSent).toBe(true);
    expect(cancel).toHaveBeenCalledOnce();
  });
});
