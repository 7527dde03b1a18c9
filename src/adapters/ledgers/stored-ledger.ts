import {
  type FinishDetails,
  InvalidInputError,
  LedgerError,
  type ListingLedger,
  type OpenCall,
  parseTaskRef,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
  type TaskRef,
} from '../../index.ts';

/** Options of ledgers in a database. */
export interface StoredLedgerOptions {
  /**
   * Time that a claim stays active after it was last renewed, in milliseconds, measured by the clock of the
   * database. A process renews its claim three times in that period.
   *
   * From 1,000 to 3,600,000, 30,000 by default.
   */
  readonly lease?: number | undefined;
  /**
   * Time to retry if the database does not respond, in milliseconds, before a `LedgerError` is thrown.
   * Shorter restarts of the database go unnoticed.
   *
   * From 100 to 600,000, 10,000 by default.
   */
  readonly timeout?: number | undefined;
}

/** A claim to be made. */
export interface NewClaim {
  /** Created by the client, so that a claim whose response was lost can be requested again. */
  readonly claimId: string;
  readonly inputHash: string;
  /** The claim to replace. */
  readonly replaces: string | undefined;
}

/** A task as text, because a database that parses it as JSON could reject a paid task. */
export interface StoredTask {
  readonly ref: string;
  /** Prefix of all handles of the same task. */
  readonly start: string;
}

/** A stored call as text fields: see {@link readCall}. */
export type StoredCall = readonly (string | undefined)[];

/** A stored call with its key, and the time of its first claim in milliseconds since 1970. */
export interface StoredOpenCall {
  readonly key: string;
  readonly since: number | undefined;
  readonly call: StoredCall;
}

/** Explanation of a database error. */
export interface Problem {
  readonly problem: string;
  /** `true` if a retry may succeed. */
  readonly isTransient: boolean;
}

/** Calls in a database. Each method is atomic and may be repeated. */
export interface CallStore {
  /**
   * Claims a call that is unclaimed or whose claim may be replaced. Repeating an existing claim succeeds.
   *
   * @returns The stored call after the operation.
   */
  claim(key: string, claim: NewClaim): Promise<StoredCall>;
  /** Renews the lease of a claim; returns `false` if another claim has replaced it. */
  renew(key: string, claimId: string): Promise<boolean>;
  accept(key: string, task: StoredTask, claimId: string | undefined): Promise<void>;
  /** @param request - The request of a call with unknown outcome: see {@link readCall}. */
  finish(key: string, end: SubmitEnd, claimId: string | undefined, request: string): Promise<void>;
  read(key: string): Promise<StoredCall | undefined>;
  /** Returns the calls that are not finished. */
  listOpen(): Promise<StoredOpenCall[]>;
  /** Explains an error of the database. */
  explain(error: unknown): Problem;
}

export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

/** Checks that the options are an object. */
export function checkOptions(options: unknown, field = 'options'): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  check(isObject, field, 'must be an object.');
}

export function checkDuration(
  field: string,
  value: unknown,
  smallest: number,
  largest: number,
): void {
  const fits = typeof value === 'number' && value >= smallest && value <= largest;
  check(fits, field, `must be a number of milliseconds from ${smallest} to ${largest}.`);
}

/** Returns the validated lease. */
export function readLease({ lease = 30_000 }: StoredLedgerOptions): number {
  checkDuration('lease', lease, 1_000, 3_600_000);
  return lease;
}

const ends: readonly unknown[] = ['completed', 'failed', 'not_submitted', 'unknown'];

function checkClaimId(claimId: unknown): void {
  const isGood = claimId === undefined || (typeof claimId === 'string' && claimId !== '');
  check(isGood, 'claimId', 'must be the string that claim() returned.');
}

/**
 * Converts a call id to a key that every database can store. Ids that are long or contain unsupported
 * characters are replaced by a digest.
 */
async function toKey(callId: unknown): Promise<string> {
  const isText = typeof callId === 'string' && callId !== '';
  check(isText, 'callId', 'is empty; pass the id of your job.');
  if (callId.length <= 400 && !/^sha256:|\0|\p{Surrogate}/u.test(callId)) return callId;
  const bytes = new TextEncoder().encode(JSON.stringify(callId));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Encodes a handle as text. The prefix identifies the task, independent of its other fields. */
function storedTask(taskRef: TaskRef): StoredTask {
  const { id, baseURL, ...rest } = parseTaskRef(taskRef);
  const start = `${JSON.stringify({ id, baseURL }).slice(0, -1)},`;
  return { ref: start + JSON.stringify(rest).slice(1), start };
}

function parseRefs(texts: readonly string[]): TaskRef[] {
  const refs = texts.map((text) => parseTaskRef(JSON.parse(text)));
  const isFirst = (ref: TaskRef, position: number): boolean =>
    refs.findIndex(({ id, baseURL }) => id === ref.id && baseURL === ref.baseURL) === position;
  return refs.filter(isFirst);
}

/** Marks a stored request whose error response was read completely. */
const answeredFlag = 'answered';

/** Encodes a request with the id of its claim, because older versions keep it when the claim is replaced. */
function storedRequest(
  claimId: string | undefined,
  requestId: unknown,
  isErrorComplete: boolean | undefined,
): string {
  // Gateways use plain ids. Others are omitted because not every database could store them.
  const isPlain = typeof requestId === 'string' && /^[!-~]{1,200}$/.test(requestId);
  if (claimId === undefined || !isPlain) return '';
  return [claimId, requestId, ...(isErrorComplete === true ? [answeredFlag] : [])].join(' ');
}

/**
 * Decodes a stored call.
 *
 * @param fields - Status, input hash, claim id, `"true"` if the lease is active, the handle of the call,
 * the handles of further tasks, one per line, and the request of a claim with its claim id.
 */
function readCall(fields: StoredCall): SubmitEntry {
  const [status = '', inputHash = '', claimId = '', isLeased, ref = '', others = '', request = ''] =
    fields;
  const refs = parseRefs([ref, ...others.split('\n')].filter((text) => text !== ''));
  const [first] = refs;
  if (first !== undefined) {
    const isOver = status === 'completed' || status === 'failed';
    return { status: isOver ? 'finished' : 'accepted', inputHash, ref: first, refs };
  }
  const isUnknown = status !== 'submitting';
  const isAlive = !isUnknown && isLeased === 'true';
  const claim = { inputHash, claimId, isAlive, refs };
  if (!isUnknown) return { status: 'submitting', ...claim };
  const [requestClaimId, requestId, mark] = request.split(' ');
  if (requestClaimId !== claimId) return { status: 'unknown', ...claim };
  const answered = mark === answeredFlag && { isErrorComplete: true };
  return { status: 'unknown', ...claim, requestId, ...answered };
}

/** Creates a timer that does not keep the process running. */
function startTimer(act: () => void, delay: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(act, delay);
  if (typeof timer === 'object') timer.unref();
  return timer;
}

/** Rejects if the work takes longer than `limit` in milliseconds. Its later result is ignored. */
async function withTimeout<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no response within ${Math.round(limit)} ms`)),
      limit,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Delays between retries, in milliseconds. Each is twice the previous one. */
const firstPause = 50;
const longestPause = 1_000;

/** Maximum number of calls whose last request is remembered for another attempt, by kind of request. */
const maxRemembered = 10_000;

/** A ledger in a database that any number of processes share. */
export class StoredLedger implements ListingLedger {
  readonly #store: CallStore;
  readonly #lease: number;
  readonly #timeout: number;
  /** Lease timers of active claims, by claim id. */
  readonly #heartbeats = new Map<string, ReturnType<typeof setTimeout>>();
  /** Claims that may exist although the request failed, by the keys of their calls. */
  readonly #unconfirmed = new Map<string, string>();
  /** Claims that created no task, but may still exist because their release failed, by the keys of their calls. */
  readonly #unreleased = new Map<string, string>();

  constructor(store: CallStore, options: StoredLedgerOptions) {
    const { timeout = 10_000 } = options;
    checkDuration('timeout', timeout, 100, 600_000);
    this.#store = store;
    this.#lease = readLease(options);
    this.#timeout = timeout;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    const key = await toKey(callId);
    const unreleased = this.#unreleased.get(key);
    if (unreleased !== undefined) {
      await this.#retry(callId, () => this.#store.finish(key, 'not_submitted', unreleased, ''));
      this.#unreleased.delete(key);
    }
    // Nothing was submitted under an unconfirmed claim, so it can be reused, but only once.
    const claimId = this.#unconfirmed.get(key) ?? crypto.randomUUID();
    this.#unconfirmed.delete(key);
    const claim: NewClaim = { claimId, inputHash, replaces };
    let found: SubmitEntry;
    try {
      found = readCall(await this.#retry(callId, () => this.#store.claim(key, claim)));
    } catch (error) {
      if (this.#unconfirmed.size < maxRemembered) this.#unconfirmed.set(key, claimId);
      throw error;
    }
    const { refs: _, ...known } = found;
    if (known.status !== 'submitting' || known.claimId !== claimId) return known;
    this.#startHeartbeat(key, claimId);
    return { status: 'claimed', claimId };
  }

  async accept(callId: string, ref: TaskRef, claimId?: string): Promise<void> {
    const key = await toKey(callId);
    checkClaimId(claimId);
    const task = storedTask(ref);
    try {
      const enter = () => this.#store.accept(key, task, claimId);
      await this.#retry(callId, enter, 'Keep the handle of the task, and call accept() again.');
    } finally {
      this.#stopHeartbeat(claimId);
    }
  }

  async finish(callId: string, end: SubmitEnd, details: FinishDetails = {}): Promise<void> {
    checkOptions(details, 'details');
    const { claimId, requestId, isErrorComplete } = details;
    const key = await toKey(callId);
    checkClaimId(claimId);
    check(ends.includes(end), 'end', `must be one of "${ends.join('", "')}".`);
    this.#stopHeartbeat(claimId);
    const request = storedRequest(claimId, requestId, isErrorComplete);
    const record = () => this.#store.finish(key, end, claimId, request);
    try {
      await this.#retry(callId, record, 'Call finish() again.');
    } catch (error) {
      // Otherwise the claim would keep the call from being submitted.
      if (
        end === 'not_submitted' &&
        claimId !== undefined &&
        this.#unreleased.size < maxRemembered
      ) {
        this.#unreleased.set(key, claimId);
      }
      throw error;
    }
  }

  async entry(callId: string): Promise<SubmitEntry | undefined> {
    const key = await toKey(callId);
    const stored = await this.#retry(callId, () => this.#store.read(key));
    return stored && readCall(stored);
  }

  /**
   * Lists the calls that are not over. A call id that is longer than 400 characters, or has characters that not every
   * database can store, is that of the handle of its task, or else its digest, `sha256:…`.
   */
  async open({ before }: { before?: number | undefined } = {}): Promise<OpenCall[]> {
    const isTime = before === undefined || Number.isFinite(before);
    check(isTime, 'before', 'must be a time in milliseconds since 1970.');
    const stored = await this.#retry(undefined, () => this.#store.listOpen());
    return stored
      .map(({ key, since, call }): OpenCall => {
        const entry = readCall(call);
        const isDigest = key.startsWith('sha256:');
        const callId = (isDigest ? entry.refs[0]?.callId : undefined) ?? key;
        return { callId, since, ...entry };
      })
      .filter(({ since }) => before === undefined || since === undefined || since < before)
      .toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0));
  }

  /** Prepares the database. */
  protected async prepare(act: () => Promise<void>): Promise<void> {
    await this.#retry(undefined, act);
  }

  /** Renews a claim periodically until it is accepted or finished. */
  #startHeartbeat(key: string, claimId: string): void {
    const beat = async (): Promise<void> => {
      const isOurs = await withTimeout(this.#store.renew(key, claimId), this.#lease).catch(
        () => true,
      );
      if (isOurs && this.#heartbeats.has(claimId)) this.#startHeartbeat(key, claimId);
      else this.#stopHeartbeat(claimId);
    };
    this.#heartbeats.set(
      claimId,
      startTimer(() => void beat(), this.#lease / 3),
    );
  }

  #stopHeartbeat(claimId: string | undefined): void {
    if (claimId === undefined) return;
    clearTimeout(this.#heartbeats.get(claimId));
    this.#heartbeats.delete(claimId);
  }

  /**
   * Runs a database operation and retries transient failures until the timeout.
   *
   * @param advice - Advice for a video that has already been submitted.
   * @throws `LedgerError`
   */
  async #retry<T>(
    callId: string | undefined,
    operation: () => Promise<T>,
    advice?: string,
  ): Promise<T> {
    const begun = performance.now();
    // One hanging connection must not use up the whole timeout.
    const limit = this.#timeout / 3;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        return await withTimeout(operation(), limit);
      } catch (cause) {
        const { problem, isTransient } = this.#store.explain(cause);
        const isLast = performance.now() - begun + pause + limit > this.#timeout;
        if (!isTransient || isLast) {
          const outcome = advice === undefined ? 'not_sent' : 'unknown';
          throw new LedgerError(problem, { outcome, callId, cause, advice });
        }
      }
      await new Promise<void>((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }
}
