import type { SubmitEnd, SubmitLedger } from '../index.ts';
import { scripts } from './redis-scripts.ts';
import {
  check,
  checkDuration,
  checkOptions,
  leaseOf,
  StoredLedger,
  type CallStore,
  type NewClaim,
  type Problem,
  type StoredLedgerOptions,
  type StoredTask,
  type StoredWords,
} from './stored-ledger.ts';

/** What is used of a client of `ioredis`: a `Redis` or a `Cluster`. */
export interface IORedisClient {
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is used of a client of `redis`: of `createClient()`, `createCluster()` or a pool of clients. */
export interface NodeRedisClient {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Options of {@link redisLedger}. */
export interface RedisLedgerOptions extends StoredLedgerOptions {
  /** How the keys begin. `"model-gateway:call:"` by default. */
  readonly prefix?: string | undefined;
  /**
   * How long a call that is over is kept, in milliseconds, or `null` for ever. After that its call id
   * counts as new, so it should be longer than your jobs may be tried again.
   *
   * From 1,000, `null` by default.
   */
  readonly keepFinished?: number | null | undefined;
}

/**
 * A ledger of submissions in Redis 5 or later, for any number of machines: of all workers that submit
 * under the same `callId`, one does, whatever workers die in between. It keeps the ids of calls and
 * requests, digests and handles, no keys and no prompts, as one hash for each call.
 *
 * **Its promise is weaker than that of PostgreSQL.** Redis confirms before a replica has the claim, and by
 * default up to a second before the disk has it. When a fail-over or a crash of Redis loses a claim, its
 * call counts as new, and may be submitted and paid for twice. Take `appendfsync always` without
 * fail-over, or `postgresLedger`, where that must not be. A Redis that may drop such entries when its
 * memory is full (`maxmemory-policy allkeys-…`) is refused.
 *
 * A claim is leased, by the clock of Redis, and the lease is renewed while the submission is under way.
 * Who asks after it has run out is told that the outcome is unknown, as the worker may have died after
 * its request was accepted.
 *
 * @param client - A client of `ioredis`, or a connected one of `redis`. It stays yours to close.
 * @throws `InvalidInputError` when the client or an option cannot work
 *
 * @example
 * const ledger = redisLedger(new Redis('redis://localhost:6379'));
 * await client.videos.createAndWait(params, { ledger, callId: job.id });
 */
export function redisLedger(
  client: IORedisClient | NodeRedisClient,
  options: RedisLedgerOptions = {},
): SubmitLedger {
  checkOptions(options);
  return new StoredLedger(new RedisStore(senderOf(client), options), options);
}

/** Runs a script on one key, by its digest or as its text. */
type Sender = (
  how: 'digest' | 'text',
  script: string,
  key: string,
  values: string[],
) => Promise<unknown>;

function senderOf(client: IORedisClient | NodeRedisClient): Sender {
  const problem =
    'is no client of Redis; give new Redis(url) of "ioredis", or await createClient({ url }).connect() of "redis".';
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

/** The name under which Redis knows a script. */
function digestOf(name: Script): Promise<string> {
  const known = digests.get(name);
  if (known !== undefined) return known;
  const made = crypto.subtle
    .digest('SHA-1', new TextEncoder().encode(scripts[name]))
    .then((digest) =>
      Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join(''),
    );
  digests.set(name, made);
  return made;
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
    this.#lease = String(Math.round(leaseOf(options)));
    this.#keep = keepFinished ? String(Math.round(keepFinished)) : '';
  }

  async claim(key: string, claim: NewClaim): Promise<StoredWords> {
    if (!this.#isChecked) await this.#checkEviction(key);
    const { claimId, inputHash, replaces = '' } = claim;
    return listOf(await this.#run('claim', key, claimId, inputHash, replaces, this.#lease));
  }

  async renew(key: string, claimId: string): Promise<boolean> {
    return textOf(await this.#run('renew', key, claimId, this.#lease)) === 'true';
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

  async read(key: string): Promise<StoredWords | undefined> {
    const words = listOf(await this.#run('read', key));
    return words.length === 0 ? undefined : words;
  }

  /** Refuses a Redis that may forget what was paid for. */
  async #checkEviction(key: string): Promise<void> {
    const policy = textOf(await this.#run('eviction', key));
    if (policy?.startsWith('allkeys-') === true) {
      throw new Refusal(
        `This Redis drops entries when its memory is full (maxmemory-policy ${policy}), and with them what was paid for. Set maxmemory-policy to noeviction.`,
      );
    }
    this.#isChecked = true;
  }

  async #run(name: Script, key: string, ...values: string[]): Promise<unknown> {
    const named = this.#prefix + key;
    try {
      return await this.#send('digest', await digestOf(name), named, values);
    } catch (error) {
      // Redis has been started since it last saw the script.
      if (!saying(error).startsWith('NOSCRIPT')) throw error;
      return this.#send('text', scripts[name], named, values);
    }
  }

  explain(error: unknown): Problem {
    const said = saying(error);
    if (error instanceof Refusal) return { problem: said, passes: false };
    const [, version] = /^LEDGERVERSION (\S+)/.exec(said) ?? [];
    if (version !== undefined) {
      const problem = `The call is in the ledger in format ${version}, which this version does not know. Update model-gateway, or give another prefix.`;
      return { problem, passes: false };
    }
    if (/^(ERR|NOAUTH|NOPERM|WRONGPASS|WRONGTYPE)\b/.test(said)) {
      return { problem: `Redis refuses what the ledger asks: ${said}.`, passes: false };
    }
    if (error instanceof Error && error.constructor.name === 'ClientClosedError') {
      const problem = `The Redis client of the ledger is closed. Call await client.connect() first, and close it after the last video.`;
      return { problem, passes: false };
    }
    const problem = `The Redis of the ledger cannot be asked: ${said}. Check that it runs, and how the client connects to it.`;
    return { problem, passes: true };
  }
}

/** What Redis cannot be used for, as it is set up. */
class Refusal extends Error {}

/** Text that Redis has answered. A client may be set up to give bytes. */
function textOf(reply: unknown): string | undefined {
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  return typeof reply === 'string' ? reply : undefined;
}

function listOf(reply: unknown): StoredWords {
  return Array.isArray(reply) ? reply.map(textOf) : [];
}

function saying(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
