/**
 * A ledger of videos in Redis, for `redis` and `ioredis`.
 *
 * @module model-gateway/redis
 */
import type { ListingLedger, SubmitEnd } from '../../index.ts';
import { scripts } from './redis-scripts.ts';
import {
  check,
  checkDuration,
  checkOptions,
  readLease,
  StoredLedger,
  type CallStore,
  type NewClaim,
  type Problem,
  type StoredLedgerOptions,
  type StoredTask,
  type StoredCall,
  type StoredOpenCall,
} from './stored-ledger.ts';

/** The methods used of an `ioredis` client: a `Redis` or a `Cluster`. */
export interface IORedisClient {
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The methods used of a `redis` client: from `createClient()`, `createCluster()` or a client pool. */
export interface NodeRedisClient {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Options of {@link redisLedger}. */
export interface RedisLedgerOptions extends StoredLedgerOptions {
  /** Prefix of the keys. `"model-gateway:call:"` by default. */
  readonly prefix?: string | undefined;
  /**
   * Time to keep finished calls, in milliseconds, or `null` for no limit. After that the call id counts as
   * new, so keep calls for longer than your jobs may be retried.
   *
   * At least 1,000, `null` by default.
   */
  readonly keepFinished?: number | null | undefined;
}

/**
 * Creates a ledger of submissions in Redis 5 or later, for any number of machines: if several workers submit
 * with the same `callId`, only one request is sent, even if workers die. It stores call ids, request ids,
 * digests and handles as one hash per call, but no keys or prompts.
 *
 * **Its guarantee is weaker than that of PostgreSQL.** Redis confirms a claim before a replica has it, and
 * by default up to a second before it is on disk. If a failover or a crash of Redis loses a claim, its
 * call counts as new and may be submitted and paid for twice. If that is not acceptable, use
 * `appendfsync always` without failover, or `postgresLedger`. A Redis that may evict entries when its
 * memory is full (`maxmemory-policy allkeys-…`) is rejected.
 *
 * A claim has a lease, timed by the clock of Redis. The worker renews it while it submits. After it
 * has expired, other workers see an unknown outcome, because the worker may have died after its request
 * was accepted.
 *
 * @param client - A client of `ioredis`, or a connected client of `redis`. Close it yourself.
 * @throws `InvalidInputError` if the client or an option is invalid
 *
 * @example
 * const ledger = redisLedger(new Redis('redis://localhost:6379'));
 * await client.videos.createAndWait(params, { ledger, callId: job.id });
 */
export function redisLedger(
  client: IORedisClient | NodeRedisClient,
  options: RedisLedgerOptions = {},
): ListingLedger {
  checkOptions(options);
  return new StoredLedger(new RedisStore(createSender(client), options), options);
}

/** Runs a script on one key, by its digest or by its text. */
type Sender = (
  how: 'digest' | 'text',
  script: string,
  key: string,
  values: string[],
) => Promise<unknown>;

function createSender(client: IORedisClient | NodeRedisClient): Sender {
  const problem =
    'is not a Redis client; pass new Redis(url) of "ioredis", or await createClient({ url }).connect() of "redis".';
  check(typeof client === 'object' && client !== null, 'client', problem);
  check(!(client instanceof Promise), 'client', 'is a promise; put "await" before it.');
  check(typeof client.eval === 'function', 'client', problem);
  if ('evalSha' in client) {
    return (how, script, key, values) => {
      const parameters = { keys: [key], arguments: values };
      return how === 'text' ? client.eval(script, parameters) : client.evalSha(script, parameters);
    };
  }
  check(typeof client.evalsha === 'function', 'client', problem);
  return (how, script, key, values) =>
    how === 'text'
      ? client.eval(script, 1, key, ...values)
      : client.evalsha(script, 1, key, ...values);
}

type Script = keyof typeof scripts;

const digests = new Map<Script, Promise<string>>();

/** Returns the SHA-1 digest that identifies a script in Redis. */
function scriptDigest(name: Script): Promise<string> {
  const known = digests.get(name);
  if (known !== undefined) return known;
  const pending = crypto.subtle
    .digest('SHA-1', new TextEncoder().encode(scripts[name]))
    .then((digest) =>
      Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join(''),
    );
  digests.set(name, pending);
  return pending;
}

class RedisStore implements CallStore {
  readonly #send: Sender;
  readonly #prefix: string;
  readonly #lease: string;
  readonly #keep: string;
  #isChecked = false;

  constructor(send: Sender, options: RedisLedgerOptions) {
    const { prefix = 'model-gateway:call:', keepFinished } = options;
    check(typeof prefix === 'string', 'prefix', 'must be text.');
    if (keepFinished !== undefined && keepFinished !== null) {
      checkDuration('keepFinished', keepFinished, 1_000, Number.MAX_SAFE_INTEGER);
    }
    this.#send = send;
    this.#prefix = prefix;
    this.#lease = String(Math.round(readLease(options)));
    this.#keep = keepFinished ? String(Math.round(keepFinished)) : '';
  }

  async claim(key: string, claim: NewClaim): Promise<StoredCall> {
    if (!this.#isChecked) await this.#checkEviction(key);
    const { claimId, inputHash, replaces = '' } = claim;
    return decodeList(await this.#run('claim', key, claimId, inputHash, replaces, this.#lease));
  }

  async renew(key: string, claimId: string): Promise<boolean> {
    return decodeText(await this.#run('renew', key, claimId, this.#lease)) === 'true';
  }

  async accept(
    key: string,
    { ref, start }: StoredTask,
    claimId: string | undefined,
  ): Promise<void> {
    await this.#run('accept', key, ref, start, claimId ?? '');
  }

  async finish(
    key: string,
    end: SubmitEnd,
    claimId: string | undefined,
    request: string,
  ): Promise<void> {
    await this.#run('finish', key, end, claimId ?? '', this.#keep, request);
  }

  async read(key: string): Promise<StoredCall | undefined> {
    const fields = decodeList(await this.#run('read', key));
    return fields.length === 0 ? undefined : fields;
  }

  /** Throws if Redis may evict entries, because they record paid tasks. */
  async #checkEviction(key: string): Promise<void> {
    const policy = decodeText(await this.#run('eviction', key));
    if (policy?.startsWith('allkeys-') === true) {
      throw new Refusal(
        `This Redis server evicts entries when its memory is full (maxmemory-policy ${policy}), so paid tasks could be lost. Set maxmemory-policy to noeviction.`,
      );
    }
    this.#isChecked = true;
  }

  async #run(name: Script, key: string, ...values: string[]): Promise<unknown> {
    const prefixedKey = this.#prefix + key;
    try {
      return await this.#send('digest', await scriptDigest(name), prefixedKey, values);
    } catch (error) {
      // Redis has restarted since it last received the script.
      if (!errorMessage(error).startsWith('NOSCRIPT')) throw error;
      return this.#send('text', scripts[name], prefixedKey, values);
    }
  }

  async listOpen(): Promise<StoredOpenCall[]> {
    const pattern = `${this.#prefix.replaceAll(/[*?[\]\\]/g, String.raw`\$&`)}*`;
    // A scan may return a key twice.
    const found = new Map<string, StoredOpenCall>();
    for (let cursor: string | undefined = '0'; cursor !== undefined;) {
      const reply = await this.#run('open', '', cursor, pattern);
      const [next, ...rows]: unknown[] = Array.isArray(reply) ? reply : [];
      for (const row of rows) {
        const [key = '', since, ...call] = decodeList(row);
        const name = key.slice(this.#prefix.length);
        found.set(name, { key: name, since: since === undefined ? since : Number(since), call });
      }
      const following = decodeText(next) ?? '0';
      cursor = following === '0' ? undefined : following;
    }
    return [...found.values()];
  }

  explain(error: unknown): Problem {
    const message = errorMessage(error);
    if (error instanceof Refusal) return { problem: message, isTransient: false };
    const [, version] = /^LEDGERVERSION (\S+)/.exec(message) ?? [];
    if (version !== undefined) {
      const problem = `The ledger entry of the call has format ${version}, which this version does not support. Update model-gateway, or pass another prefix.`;
      return { problem, isTransient: false };
    }
    if (/^(ERR|NOAUTH|NOPERM|WRONGPASS|WRONGTYPE)\b/.test(message)) {
      return { problem: `Redis rejected a command of the ledger: ${message}.`, isTransient: false };
    }
    if (error instanceof Error && error.constructor.name === 'ClientClosedError') {
      const problem = `The Redis client of the ledger is closed. Call await client.connect() first, and close it after the last video.`;
      return { problem, isTransient: false };
    }
    const problem = `The ledger cannot reach Redis: ${message}. Check that the server runs, and the connection settings of the client.`;
    return { problem, isTransient: true };
  }
}

/** Redis is configured in a way that the ledger does not support. */
class Refusal extends Error {}

/** Decodes a text reply. Clients may be configured to return bytes. */
function decodeText(reply: unknown): string | undefined {
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  return typeof reply === 'string' ? reply : undefined;
}

function decodeList(reply: unknown): StoredCall {
  return Array.isArray(reply) ? reply.map(decodeText) : [];
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
