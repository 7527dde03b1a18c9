import { UnsupportedByGatewayError } from '../../errors/api-errors.ts';
import type { UsageLogEntry } from '../../options/gateway-profile.ts';
import { fillPath } from '../../http/url.ts';
import type { JsonObject } from '../../types.ts';
import { type AccountRoutes, unserved, unsupported } from './readings.ts';

const what = 'what it has charged';
const noun = 'the usage log';

/** The newest entries of the usage log. */
export interface UsageLog {
  /** Newest first. */
  readonly lines: readonly UsageLogEntry[];
  /** Milliseconds by which the gateway's clock is ahead of ours; browsers cannot read its time. */
  readonly clockAhead: number | undefined;
}

/** Hides the raw entry from logs and JSON. */
export function hideRaw<T extends { readonly raw: JsonObject }>(entry: T): T {
  return Object.defineProperty(entry, 'raw', { enumerable: false });
}

function newestFirst(lines: readonly UsageLogEntry[]): readonly UsageLogEntry[] {
  return lines.map(hideRaw).toSorted((one, other) => other.at - one.at);
}

function clockAhead({ headers }: Response): number | undefined {
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) ? undefined : date - Date.now();
}

/** Reads the usage log of a key. */
export class UsageLogReader {
  readonly #routes: AccountRoutes;
  /** `true` once the gateway has shown that it reads the key of these requests. */
  #readsKey = false;

  constructor(routes: AccountRoutes) {
    this.#routes = routes;
  }

  /**
   * Reads the newest entries.
   *
   * @throws `UnsupportedByGatewayError` if the gateway has no log, or accepts the key only in the URL
   */
  async read(): Promise<UsageLog> {
    const { charges } = this.#routes.rules;
    if (charges === undefined) throw unserved(this.#routes.caller, noun);
    const { path, read, isLimited = false } = charges;
    const { data, response } = await this.#routes.get(path, what, isLimited);
    const lines = read(data);
    if (typeof lines === 'string') throw unsupported(path, what, lines);
    if (lines.length === 0) await this.#checkKeyIsRead(path);
    else this.#readsKey = true;
    return { lines: newestFirst(lines), clockAhead: clockAhead(response) };
  }

  /** Reads the entries of requests by request id. Requests that are not found are left out. */
  async find(requestIds: readonly string[]): Promise<UsageLog> {
    const { charge } = this.#routes.rules;
    if (charge === undefined) throw unserved(this.#routes.caller, noun);
    const { path, read, isLimited = false } = charge;
    let ahead: number | undefined;
    const found = requestIds.map(async (id): Promise<UsageLogEntry[]> => {
      const answer = await this.#routes
        .get(fillPath(path, { id }), what, isLimited)
        .catch((error: unknown) => {
          if (UnsupportedByGatewayError.isInstance(error) && error.status === 404) return undefined;
          throw error;
        });
      if (answer === undefined) return [];
      const entries = read(answer.data);
      if (typeof entries === 'string') throw unsupported(path, what, entries);
      ahead = clockAhead(answer.response);
      // Logs may also use another id for a request.
      return [entries].flat().map((entry) => ({ ...entry, requestId: id }));
    });
    const lines = newestFirst((await Promise.all(found)).flat());
    return { lines, clockAhead: ahead };
  }

  /**
   * Throws if the gateway ignores the key: gateways of 2025 accept it only in the query, and return an empty
   * list otherwise.
   */
  async #checkKeyIsRead(path: string): Promise<void> {
    if (this.#readsKey) return;
    const ignoresKey = await this.#routes.ignoresKey(path);
    if (ignoresKey === true) {
      const finding =
        'it returns an empty list even without a key: it accepts the key only in the URL, where proxies would log it';
      throw unsupported(path, what, finding);
    }
    this.#readsKey = ignoresKey === false;
  }
}
