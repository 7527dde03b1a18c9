import { means, unusableModel } from '../answers/error-codes.ts';
import { isJSON } from '../answers/failure.ts';
import { isModelMissing } from '../http/classify.ts';
import type { CallSpec } from '../http/request.ts';
import type { FailedAttempt } from '../http/retry.ts';
import { type BaseURL, buildQuery, buildURL } from '../http/url.ts';
import type { Call } from './call.ts';
import { type ClientSettings, requireBase } from './settings.ts';

/** Returns whether a failed attempt shows that its server has the route, or leaves the outcome open. */
const provesRoute = ({ status, body, phase }: FailedAttempt): boolean =>
  phase !== 'headers' || (status !== 404 && status !== 405 && body !== undefined && isJSON(body));

/**
 * The URL of a request.
 *
 * A base URL without a version gets `/v1`, as gateways need it. Some providers have their routes directly below it,
 * so a 404 is followed by one request without `/v1`, which is free. What is learned so is known to all clients of the
 * gateway.
 */
export class RouteAddress {
  url: string;
  readonly #client: ClientSettings;
  readonly #spec: CallSpec;
  readonly #base: BaseURL;
  readonly #search: string;
  /** The 404 with `/v1`, after which the request is sent without it. */
  #missing: FailedAttempt | undefined;

  /** @throws `InvalidInputError` if the base URL is missing, or the query invalid */
  constructor({ client, options }: Call, spec: CallSpec) {
    this.#client = client;
    this.#spec = spec;
    const base = (this.#base = requireBase(client));
    this.#search = buildQuery(base.query, client.query, spec.query, options?.query);
    const { address } = client.shared;
    const isLearned = address?.root === base.root && base.version === '' && base.api === '/v1';
    this.url = spec.fileURL ?? buildURL(isLearned ? address : base, spec.path, this.#search);
  }

  /** `true` while the request is sent without the `/v1` that was added to the base URL. */
  get isTrial(): boolean {
    return this.#missing !== undefined;
  }

  /** Remembers the address, which has the route. */
  learn(): void {
    const { shared, log } = this.#client;
    const { root, api } = this.#base;
    if (shared.address?.root === root) return;
    shared.address = { root, api: this.isTrial ? '' : api };
    if (this.isTrial) log.write('info', 'The routes are not below /v1', { baseURL: root });
  }

  /**
   * Chooses the address after a failure.
   *
   * @returns `"again"` if the request is sent without `/v1` now; the first 404 if the route is missing there too;
   *   `undefined` if the failure is not about the address
   */
  follow(failed: FailedAttempt, isReplayable: boolean): 'again' | FailedAttempt | undefined {
    const { path, operation } = this.#spec;
    const { root } = this.#base;
    const first = this.#missing;
    if (first === undefined) {
      if (!isReplayable || !this.#mayLackVersion(failed)) return undefined;
      this.#missing = failed;
      this.url = buildURL({ root, api: '' }, path, this.#search);
      return 'again';
    }
    if (!provesRoute(failed)) {
      this.#client.shared.missingRoutes.add(`${root} ${operation}`);
      this.url = buildURL(this.#base, path, this.#search);
      return first;
    }
    if (failed.phase === 'headers') this.learn();
    return undefined;
  }

  /** Returns whether a 404 may mean that the routes are not below the `/v1` that was added to the base URL. */
  #mayLackVersion({ status, body }: FailedAttempt): boolean {
    const { path, operation } = this.#spec;
    const { root, api, version } = this.#base;
    if (status !== 404 || version !== '' || api !== '/v1' || !/^\/v1(\/|$)/.test(path)) {
      return false;
    }
    // Only the route itself can say that a model or a task is missing.
    if (isModelMissing(status, body) || body?.envelope === 'task') return false;
    if (means(body ?? {}, unusableModel)) return false;
    const { shared } = this.#client;
    return shared.address?.root !== root && !shared.missingRoutes.has(`${root} ${operation}`);
  }
}
