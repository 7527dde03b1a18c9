import type { SubmitEnd, SubmitLedger } from '../index.ts';
import {
  check,
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

/** What is used of a pool of connections to PostgreSQL: a `Pool` of `pg`, or what works like it. */
export interface PostgresPool {
  /** Runs one statement in a transaction of its own. */
  query(text: string, values?: (string | null)[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of {@link postgresLedger}. */
export interface PostgresLedgerOptions extends StoredLedgerOptions {
  /** The table, with or without its schema, as `"app.video_calls"`. `"model_gateway_calls"` by default. */
  readonly table?: string | undefined;
}

/** A ledger in PostgreSQL. */
export interface PostgresLedger extends SubmitLedger {
  /**
   * Creates the table if it does not exist, and brings one of an older version up to date. To be called
   * before the first video, for example when you deploy; any number of processes may call it at the
   * same time. The user of the database needs leave to create tables for this, and for nothing else.
   *
   * @throws `LedgerError` when the database refuses
   */
  migrate(): Promise<void>;
}

/**
 * A ledger of submissions in PostgreSQL 12 or later, for any number of machines: of all workers that
 * submit under the same `callId`, one does, whatever dies in between. It keeps the ids of calls and
 * requests, digests and handles, no keys and no prompts, as text in one table.
 *
 * A claim is leased, by the clock of the database, and the lease is renewed while the submission is
 * under way. Who asks after it has run out is told that the outcome is unknown, as the worker may have
 * died after its request was accepted.
 *
 * Rows stay until you delete them; a call id whose row is gone counts as new. A database that loses
 * what it has confirmed (`synchronous_commit = off`, a fail-over to a replica that lags behind) may
 * have the same call submitted twice.
 *
 * @param pool - A `Pool` of `pg`. Not a client in a transaction, which could take back what was claimed.
 * @throws `InvalidInputError` when the pool or an option cannot work
 *
 * @example
 * const ledger = postgresLedger(new Pool({ connectionString }));
 * await ledger.migrate();
 * await client.videos.createAndWait(params, { ledger, callId: job.id });
 */
export function postgresLedger(
  pool: PostgresPool,
  options: PostgresLedgerOptions = {},
): PostgresLedger {
  const isPool = (typeof pool === 'object' || typeof pool === 'function') && pool !== null;
  const problem =
    'has no method query(text, values); give a Pool of "pg": postgresLedger(new Pool({ connectionString })).';
  check(isPool && typeof pool.query === 'function', 'pool', problem);
  checkOptions(options);
  return new LedgerInPostgres(new PostgresStore(pool, options), options);
}

class LedgerInPostgres extends StoredLedger implements PostgresLedger {
  readonly #table: PostgresStore;

  constructor(store: PostgresStore, options: StoredLedgerOptions) {
    super(store, options);
    this.#table = store;
  }

  async migrate(): Promise<void> {
    await this.prepare(() => this.#table.create());
  }
}

const allColumns =
  'call_id, input_hash, claim_id, status, is_doubtful, lease_until, ref, other_refs, request, created_at, updated_at';

/** What is read of a call. Booleans too are text: drivers may be set up to read them otherwise. */
const columns =
  "c.status, c.input_hash, c.claim_id, coalesce(c.lease_until > now(), false)::text AS is_leased, coalesce(c.ref, '') AS ref, c.other_refs, c.request";

function wordsOf(row: unknown): StoredWords {
  const { status, input_hash, claim_id, is_leased, ref, other_refs, request } = Object(row);
  const words: unknown[] = [status, input_hash, claim_id, is_leased, ref, other_refs, request];
  return words.map((word) => (typeof word === 'string' ? word : undefined));
}

class PostgresStore implements CallStore {
  readonly #pool: PostgresPool;
  readonly #name: string;
  readonly #table: string;
  readonly #lease: string;

  constructor(pool: PostgresPool, options: PostgresLedgerOptions) {
    const { table = 'model_gateway_calls' } = options;
    const isName = typeof table === 'string' && /^([a-z_]\w{0,62}\.)?[a-z_]\w{0,62}$/i.test(table);
    const problem =
      'must be the name of a table, of letters, digits and "_", with or without its schema.';
    check(isName, 'table', problem);
    this.#pool = pool;
    this.#name = table;
    this.#table = table.replace(/\w+/g, '"$&"');
    this.#lease = `now() + interval '${Math.round(leaseOf(options))} milliseconds'`;
  }

  /** One statement, so that it happens whole, and of those that run it at the same time one after the other. */
  async create(): Promise<void> {
    const table = this.#table;
    await this.#query(`
      DO $migrate$ BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('model-gateway ledger'));
        -- Asked first, as who may use the table need not have leave to create one.
        IF to_regclass('${table}') IS NULL THEN CREATE TABLE ${table} (
          call_id text PRIMARY KEY,
          input_hash text NOT NULL,
          claim_id text NOT NULL,
          status text NOT NULL,
          is_doubtful boolean NOT NULL DEFAULT false,
          lease_until timestamptz,
          ref text,
          other_refs text NOT NULL DEFAULT '',
          request text NOT NULL DEFAULT '',
          created_at timestamptz NOT NULL DEFAULT now(),
          updated_at timestamptz NOT NULL DEFAULT now()
        ); END IF;
        -- The first version had none.
        IF NOT EXISTS (
          SELECT FROM pg_attribute
          WHERE attrelid = to_regclass('${table}') AND attname = 'request' AND NOT attisdropped
        ) THEN ALTER TABLE ${table} ADD COLUMN request text NOT NULL DEFAULT ''; END IF;
      END $migrate$`);
    // A table that is there may be another one.
    await this.#query(`SELECT ${allColumns} FROM ${table} LIMIT 0`);
  }

  async claim(key: string, claim: NewClaim): Promise<StoredWords> {
    for (;;) {
      // All columns are named, so that a table that lacks one is found out before anything is paid for.
      const claimed = await this.#query(
        `INSERT INTO ${this.#table} AS c
           (${allColumns})
         VALUES ($1, $2, $3, 'submitting', false, ${this.#lease}, NULL, '', '', now(), now())
         ON CONFLICT (call_id) DO UPDATE SET
           input_hash = excluded.input_hash,
           claim_id = excluded.claim_id,
           status = 'submitting',
           is_doubtful = c.is_doubtful OR c.claim_id <> excluded.claim_id,
           lease_until = excluded.lease_until,
           updated_at = now()
         WHERE c.ref IS NULL
           AND (c.claim_id = $4 OR (c.claim_id = $3 AND c.status = 'submitting'))
         RETURNING ${columns}`,
        [key, claim.inputHash, claim.claimId, claim.replaces ?? null],
      );
      const row = claimed[0] ?? (await this.#row(key));
      // It may have been given back in between.
      if (row !== undefined) return wordsOf(row);
    }
  }

  async renew(key: string, claimId: string): Promise<boolean> {
    const renewed = await this.#query(
      `UPDATE ${this.#table} SET lease_until = ${this.#lease}
       WHERE call_id = $1 AND claim_id = $2 AND status = 'submitting'
       RETURNING call_id`,
      [key, claimId],
    );
    return renewed.length > 0;
  }

  async accept(
    key: string,
    { ref, start }: StoredTask,
    claimId: string | undefined,
  ): Promise<void> {
    const kept =
      claimId === undefined
        ? // A person puts it before the others.
          `ref = $2,
           status = 'accepted',
           other_refs = CASE
             WHEN c.ref IS NULL OR starts_with(c.ref, $3)
               OR strpos(c.other_refs || chr(10), chr(10) || c.ref || chr(10)) > 0
             THEN c.other_refs
             ELSE chr(10) || c.ref || c.other_refs END`
        : `ref = coalesce(c.ref, $2),
           status = CASE WHEN c.ref IS NULL THEN 'accepted' ELSE c.status END,
           other_refs = CASE
             WHEN c.ref IS NULL OR starts_with(c.ref, $3)
               OR strpos(c.other_refs, chr(10) || $3) > 0
             THEN c.other_refs
             ELSE c.other_refs || chr(10) || $2 END`;
    const values = [key, ref, start];
    const entered = await this.#query(
      `UPDATE ${this.#table} AS c SET ${kept}, updated_at = now() WHERE call_id = $1 RETURNING call_id`,
      values,
    );
    if (entered.length > 0) return;
    // Its claim is gone, and another may come at this moment.
    await this.#query(
      `INSERT INTO ${this.#table} AS c (call_id, input_hash, claim_id, status, ref)
       VALUES ($1, '', '', 'accepted', $2)
       ON CONFLICT (call_id) DO UPDATE SET ${kept}, updated_at = now()`,
      values,
    );
  }

  async finish(
    key: string,
    end: SubmitEnd,
    claimId: string | undefined,
    request: string,
  ): Promise<void> {
    const table = this.#table;
    // Each statement names all values: PostgreSQL refuses one that is of no use.
    const isMeant = 'call_id = $1 AND ($2::text IS NULL OR claim_id = $2) AND $3::text IS NOT NULL';
    const leave = (condition: string) =>
      `UPDATE ${table} SET status = 'unknown', lease_until = NULL, request = $3, updated_at = now()
       WHERE ${isMeant} AND ref IS NULL AND ${condition}`;
    const statements: Readonly<Record<SubmitEnd, string>> = {
      completed: `UPDATE ${table} SET status = 'completed', updated_at = now() WHERE ${isMeant} AND ref IS NOT NULL`,
      failed: `UPDATE ${table} SET status = 'failed', updated_at = now() WHERE ${isMeant} AND ref IS NOT NULL`,
      unknown: leave('true'),
      not_submitted: `WITH freed AS (DELETE FROM ${table} WHERE ${isMeant} AND ref IS NULL AND NOT is_doubtful) ${leave('is_doubtful')}`,
    };
    await this.#query(statements[end], [key, claimId ?? null, request]);
  }

  async read(key: string): Promise<StoredWords | undefined> {
    const row = await this.#row(key);
    return row === undefined ? undefined : wordsOf(row);
  }

  async #row(key: string): Promise<unknown> {
    const rows = await this.#query(
      `SELECT ${columns} FROM ${this.#table} AS c WHERE call_id = $1`,
      [key],
    );
    return rows[0];
  }

  async #query(text: string, values: (string | null)[] = []): Promise<readonly unknown[]> {
    return (await this.#pool.query(text, values)).rows;
  }

  explain(error: unknown): Problem {
    const code = codeOf(error);
    const said = saying(error);
    if (code === '42P01') {
      const problem = `The table ${this.#name} of the ledger does not exist. Call ledger.migrate() once, before the workers start.`;
      return { problem, passes: false };
    }
    if (code === '42703') {
      const problem = `The table ${this.#name} of the ledger is one of another version (${said}). Call ledger.migrate(), or give another table.`;
      return { problem, passes: false };
    }
    if (isRefusal(code)) {
      return { problem: `PostgreSQL refuses what the ledger asks: ${said}.`, passes: false };
    }
    const problem = `The PostgreSQL of the ledger cannot be asked: ${said}. Check that it runs, and how the pool connects to it.`;
    return { problem, passes: true };
  }
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** What an error says. One of a host with several addresses says nothing itself. */
function saying(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message : String(first);
}

/**
 * Whether PostgreSQL has refused for good, by the class of its code: not lost connections, shortages,
 * conflicts between transactions, locks, a shutdown, and a server that only reads, as in a fail-over.
 */
function isRefusal(code: string): boolean {
  // Systems have codes too, such as EPIPE.
  const isOfPostgres = /^[\dA-Z]{5}$/.test(code) && /\d/.test(code);
  return isOfPostgres && !/^(08|40|53|55|57|58|XX|25006)/.test(code);
}
