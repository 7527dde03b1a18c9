import { http, HttpResponse, type HttpHandler } from 'msw';
import { endpoints, type Operation } from '../endpoints.ts';
import { ConnectionLoss } from './server/byte-stream.ts';
import { createEmulator, type Emulator } from './server/emulator.ts';
import { accountPaths } from './routes/account.ts';
import { escaped, operations, pathPattern } from './server/router.ts';

/** How the handlers are made. */
export interface GatewayHandlersOptions {
  /**
   * The address of the gateway that your code calls. Paths that the gateway does not have are then
   * answered too, as it answers them.
   * @defaultValue any host, documented paths only
   */
  baseURL?: string | undefined;
  /** The emulator that answers: its charges, requests, faults and clock are yours to use. */
  emulator?: Emulator | undefined;
}

const verbs = { GET: http.get, POST: http.post } as const;

/** States how the body ends; msw would otherwise let a body that breaks look like one that ends. */
function framed(response: Response): Response {
  if (response.body !== null && !response.headers.has('content-length')) {
    response.headers.set('transfer-encoding', 'chunked');
  }
  return response;
}

/**
 * Request handlers for Mock Service Worker 3: one for every documented endpoint and every route of the
 * account, one for the files that answers point to, and with a `baseURL` one for every other path of the gateway.
 *
 * They are made from the same model as `createEmulator()`.
 *
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const server = setupServer(...gatewayHandlers({ baseURL: 'https://gateway.example.com', emulator }));
 * server.listen({ onUnhandledFrame: 'error' });
 * ```
 */
export function gatewayHandlers({
  baseURL,
  emulator = createEmulator(),
}: GatewayHandlersOptions = {}): HttpHandler[] {
  const origin = baseURL === undefined ? 'https?://[^/]+' : escaped(new URL(baseURL).origin);
  const files =
    baseURL === undefined ? origin : `(${origin}|${escaped(emulator.filesOrigin(baseURL))})`;
  const answer = async ({ request }: { request: Request }): Promise<Response> => {
    try {
      return framed(await emulator.handle(request));
    } catch (error) {
      if (error instanceof ConnectionLoss || request.signal.aborted) return HttpResponse.error();
      throw error;
    }
  };
  const documented = operations.map((operation: Operation) => {
    const { method, path } = endpoints[operation];
    return verbs[method](new RegExp(`^${origin}${pathPattern(path)}$`), answer);
  });
  const rest = baseURL === undefined ? [] : [http.all(new RegExp(`^${origin}/`), answer)];
  const account = accountPaths.map((path) =>
    http.get(new RegExp(`^${origin}${escaped(path)}$`), answer),
  );
  return [...documented, ...account, http.get(new RegExp(`^${files}/files/`), answer), ...rest];
}
