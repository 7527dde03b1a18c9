/**
 * Handlers of `msw` that respond with the emulator.
 *
 * @module model-gateway/testing/msw
 */
import { http, HttpResponse, type HttpHandler } from 'msw';
import { endpoints, type Operation, operations } from '../endpoints.ts';
import { ConnectionLoss } from './server/byte-stream.ts';
import { createEmulator, type Emulator } from './server/emulator.ts';
import { escaped, pathPattern } from './server/router.ts';

/** Options of `gatewayHandlers()`. */
export interface GatewayHandlersOptions {
  /**
   * The URL of the gateway that your code calls. If set, unknown paths of the gateway are handled as well.
   * @defaultValue any host, documented paths only
   */
  baseURL?: string | undefined;
  /** The emulator that handles requests, with its charges, requests, faults and clock. */
  emulator?: Emulator | undefined;
}

const verbs = { GET: http.get, POST: http.post } as const;

/** Sets the framing header; without it, msw makes a truncated body look complete. */
function setFraming(response: Response): Response {
  if (response.body !== null && !response.headers.has('content-length')) {
    response.headers.set('transfer-encoding', 'chunked');
  }
  return response;
}

/**
 * Creates request handlers for Mock Service Worker 3: for every documented endpoint, every account route
 * and the files that responses refer to; with `baseURL` also for all other paths of the gateway.
 *
 * They behave like `createEmulator()`.
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
      return setFraming(await emulator.handle(request));
    } catch (error) {
      if (error instanceof ConnectionLoss || request.signal.aborted) return HttpResponse.error();
      throw error;
    }
  };
  const { paths, otherPaths } = emulator.routes;
  const documented = operations.flatMap((operation: Operation) => {
    const path = paths[operation];
    const handle = verbs[endpoints[operation].method];
    return path ? [handle(new RegExp(`^${origin}${pathPattern(path)}$`), answer)] : [];
  });
  const rest = baseURL === undefined ? [] : [http.all(new RegExp(`^${origin}/`), answer)];
  const account = otherPaths.map((path) =>
    http.get(new RegExp(`^${origin}${pathPattern(path)}$`), answer),
  );
  return [...account, ...documented, http.get(new RegExp(`^${files}/files/`), answer), ...rest];
}
