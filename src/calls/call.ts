import type { AttemptEvidence } from '../errors/gateway-error.ts';
import type { RequestOptions } from '../options/options.ts';
import { type CallSettings, type ClientSettings, resolveCallSettings } from './settings.ts';

/** Creates the id of a call, shared by its requests. It only has to be unique in logs. */
function newCallId(): string {
  const random = Math.random().toString(36).slice(2, 12).padEnd(10, '0');
  return `call_${Date.now().toString(36)}${random}`;
}

/** One call of the user, with one request or, with fallbacks or output modes, with several. */
export class Call {
  #id: string | undefined;
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly client: ClientSettings;
  readonly options: RequestOptions | undefined;
  readonly settings: CallSettings;
  /** `true` if requests with other parameters may follow the first one. */
  mayChange = false;
  /** The evidence of earlier requests, each attempt with its model. */
  attempts: readonly AttemptEvidence[] = [];
  /** The number of requests so far. */
  requests = 0;

  /**
   * @param options - A copy of the caller's options.
   * @param params - The caller's parameters.
   * @throws `InvalidInputError` naming the invalid option
   */
  constructor(
    client: ClientSettings,
    options: RequestOptions | undefined,
    operation: string,
    params?: unknown,
  ) {
    this.client = client;
    this.options = options;
    this.settings = resolveCallSettings(client, options, operation, params);
    this.#id = options?.callId;
  }

  /** Created on first use, because most calls succeed and never need it. */
  get id(): string {
    this.#id ??= newCallId();
    return this.#id;
  }

  /** The id if it was created already. */
  get knownId(): string | undefined {
    return this.#id;
  }
}
