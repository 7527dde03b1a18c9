import {
  APIUserAbortError,
  InvalidInputError,
  UnexpectedResponseError,
  type Gateway,
} from '../index.ts';

/** How often a file is read in all. Reading is free, and what is read is paid for. */
const attempts = 3;

/**
 * Reads a file that the gateway refers to, at whichever host, with the retries and limits of the
 * client. Neither the key nor any header or query of the client's is sent there.
 *
 * @throws a `GatewayError` when that fails
 */
export async function download(
  client: Gateway,
  address: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UnexpectedResponseError('The gateway sent an address that is none of the web.', {
      outcome: 'unknown',
    });
  }
  const host = client.withOptions({
    baseURL: url.origin,
    apiKey: () => 'none',
    defaultHeaders: {},
    defaultQuery: {},
  });
  const headers = { authorization: null, accept: '*/*' };
  for (let attempt = 1; ; attempt += 1) {
    const response = await host.get(url.pathname + url.search, { signal, headers }).asResponse();
    try {
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.length > 0) return bytes;
      throw new UnexpectedResponseError('The file is empty.', { outcome: 'unknown' });
    } catch (error) {
      const isOver = APIUserAbortError.isInstance(error) || InvalidInputError.isInstance(error);
      if (isOver || attempt === attempts) throw error;
    }
  }
}
