import type { GatewayPromise } from '../calls/promise.ts';
import type { Transport } from '../calls/transport.ts';
import type { Operation } from '../endpoints.ts';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import type { SendingRules } from '../http/request.ts';
import { isFetchable } from '../http/url.ts';
import type { RequestOptions } from '../options/options.ts';
import { fileFormat } from './file-format.ts';

/** Rules for a host other than the gateway, which does not limit downloads as the gateway does. */
const plainRules: SendingRules = {
  begin: () => Promise.resolve(),
  succeeded: () => {},
  pauseAfter: () => undefined,
};

/**
 * Fetches a result by its URL in a response, without the key. Free.
 *
 * @param operation - The operation that the result belongs to.
 * @throws `UnexpectedResponseError` if the URL is neither a public https URL nor on the gateway
 */
export function fetchFile(
  transport: Transport,
  operation: Operation,
  url: string,
  options: RequestOptions,
): GatewayPromise<Response> {
  if (!isFetchable(url, transport.baseURL)) {
    throw new UnexpectedResponseError('it is neither a public https URL nor on the gateway.', {
      outcome: 'unknown',
      advice: '',
    });
  }
  const spec = {
    operation,
    method: 'GET',
    path: '',
    fileURL: url,
    query: undefined,
    charge: 'free',
    task: undefined,
    accept: '*/*',
    download: plainRules,
  } as const;
  return transport.raw(() => spec, fileFormat(), options);
}
