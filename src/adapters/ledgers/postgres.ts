/**
 * A ledger of videos in PostgreSQL, for `pg` and compatible packages.
 *
 * @module model-gateway/postgres
 */
import type { ListingLedger, SubmitEnd } from '../../index.ts';
import {
  check,
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

/** The methods used of a PostgreSQL connection pool: a `Pool` of `pg`, or a compatible one. */
export interface PostgresPool {
  /** Runs a statement in its own transaction. */
  query(text: string, values?: (string | null)[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of {@link postgresLedger}. */
export interface PostgresLedgerOptions extends StoredLedgerOptions {
  /** The table, optionally with its schema, such as `"app.video_calls"`. `"model_gateway_calls"` by default. */
  readonly table?: string | undefined;
}

/** A ledger in PostgreSQL. */
export interface PostgresLedger extends ListingLedger {
  /**
   * Creates the table if it does not exist, and migrates one of an older version. Call it before the first
   * video, for example when you deploy; any number of processes may call it at the same time. Only this
   * method requires the database privilege to create tables.
   *
   * @throws `LedgerError` if the database rejects a statement
   */
  migrate(): Promise<void>;
}

/**
 * Creates a ledger of submissions in PostgreSQL 12 or later, for any number of machines: if several workers
 * submit with the same `callId`, only one request is sent, even if workers die. It stores call ids, request
 * ids, digests and handles as text in one table, but no keys or prompts.
 *
 * A claim holds a lease, measured by the database's clock, which is renewed during the submission. After
 * it has expired, other workers see an unknown outcome, because the worker may have died after its request
 * was accepted.
 *
 * Rows stay until you delete them; a call id without a row counts as new. If the database loses committed
 * data (`synchronous_commit = off`, failover to a lagging replica), a call may be submitted twice.
 *
 * @param pool - A `Pool` of `pg`. Not a client in a transaction, because a rollback would undo claims.
 * @throws `InvalidInputError` if the pool or an option is invalid
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
    'has no method query(text, values); pass a Pool of "pg": postgresLedger(new Pool({ connectionString })).';
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

/** Columns to read. Booleans are cast to text because drivers may be configured to parse them differently. */
const columns =
  "c.status, c.input_hash, c.claim_id, coalesce(c.lease_until > now(), false)::text AS is_leased, coalesce(c.ref, '') AS ref, c.other_refs, c.request";

function toFields(row: unknown): StoredCall {
  const { status, input_hash, claim_id, is_leased, ref, other_refs, request } = Object(row);
  const fields: unknown[] = [status, input_hash, claim_id, is_leased, ref, other_refs, request];
  return fields.map((field) => (typeof field === 'string' ? field : undefined));
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
    this.#lease = `now() + interval '${Math.round(readLease(options))} milliseconds'`;
  }

  /** Runs a single statement, so that it is atomic and concurrent runs wait for each other. */
  async create(): Promise<void> {
    const table = this.#table;
    await this.#query(`
      DO $migrate$ BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('model-gateway ledger'));
        -- Check first: users of the table may lack the privilege to create one.
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
        -- Missing in the first version.
        IF NOT EXISTS (
          SELECT FROM pg_attribute
          WHERE attrelid = to_regclass('${table}') AND attname = 'request' AND NOT attisdropped
        ) THEN ALTER TABLE ${table} ADD COLUMN request text NOT NULL DEFAULT ''; END IF;
      END $migrate$`);
    // Check that an existing table has the expected columns.
    await this.#query(`SELECT ${allColumns} FROM ${table} LIMIT 0`);
  }

  async claim(key: string, claim: NewClaim): Promise<StoredCall> {
    for (;;) {
      // Name all columns, so that a missing one is detected before anything is paid for.
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
      // The claim may have been released between the statements.
      if (row !== undefined) return toFields(row);
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
        ? // A handle entered manually goes before the others.
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
    // The claim is gone, and another worker may insert one now.
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
    // Each statement references all parameters: PostgreSQL rejects unused ones.
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

  async read(key: string): Promise<StoredCall | undefined> {
    const row = await this.#row(key);
    return row === undefined ? undefined : toFields(row);
  }

  async listOpen(): Promise<StoredOpenCall[]> {
    const rows = await this.#query(
      `SELECT c.call_id, (extract(epoch FROM c.created_at) * 1000)::bigint::text AS since, ${columns}
       FROM ${this.#table} AS c WHERE status NOT IN ('completed', 'failed')`,
    );
    return rows.map((row) => {
      const { call_id: key, since } = Object(row);
      return { key, since: Number(since), call: toFields(row) };
    });
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
    const code = errorCode(error);
    const message = errorMessage(error);
    if (code === '42P01') {
      const problem = `The table ${this.#name} of the ledger does not exist. Call ledger.migrate() once, before the workers start.`;
      return { problem, isTransient: false };
    }
    if (code === '42703') {
      const problem = `The ledger table ${this.#name} has the schema of another version (${message}). Call ledger.migrate(), or use another table.`;
      return { problem, isTransient: false };
    }
    if (isRefusal(code)) {
      return {
        problem: `PostgreSQL rejected a query of the ledger: ${message}.`,
        isTransient: false,
      };
    }
    const problem = `The ledger cannot reach PostgreSQL: ${message}. Check that the server runs, and the connection settings of the pool.`;
    return { problem, isTransient: true };
  }
}

function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** Returns the message of an error. For a host with several addresses the outer message is empty. */
function errorMessage(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message : String(first);
}

/**
 * Returns whether PostgreSQL rejected the statement permanently, by the class of the error code. Lost
 * connections, resource shortages, transaction conflicts, locks, shutdowns and a read-only server during a
 * failover are transient.
 */
function isRefusal(code: string): boolean {
  // System errors such as EPIPE have codes as well.
  const isPostgresCode = /^[\dA-Z]{5}$/.test(code) && /\d/.test(code);
  return isPostgresCode && !/^(08|40|53|55|57|58|XX|25006)/.test(code);
}
