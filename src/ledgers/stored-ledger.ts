import {
  InvalidInputError,
  LedgerError,
  parseVideoTaskRef,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
  type SubmitLedger,
  type VideoTaskRef,
} from '../index.ts';

/** How a ledger in a database goes about it. */
export interface StoredLedgerOptions {
  /**
   * How long a claim counts as being worked at after its process was last heard of, in milliseconds, by
   * the clock of the database. A process that submits is heard of three times in that time.
   *
   * From 1,000 to 3,600,000, 30,000 by default.
   */
  readonly lease?: number | undefined;
  /**
   * How long a database that does not answer is asked again, in milliseconds; then a `LedgerError` is
   * thrown. A restart of the database passes unnoticed when it is shorter.
   *
   * From 100 to 600,000, 10,000 by default.
   */
  readonly timeout?: number | undefined;
}

/** A claim that is about to be made. */
export interface NewClaim {
  /** Chosen here and not by the database, so that a claim whose answer was lost can be asked for again. */
  readonly claimId: string;
  readonly inputHash: string;
  /** The claim that may be taken over. */
  readonly replaces: string | undefined;
}

/** A task as text: a database that reads it as JSON may refuse what is paid for. */
export interface StoredTask {
  readonly ref: string;
  /** How every text of the same task begins. */
  readonly start: string;
}

/** What a database holds of a call, as text: see {@link readCall}. */
export type StoredWords = readonly (string | undefined)[];

/** What is wrong with a database. */
export interface Problem {
  readonly problem: string;
  /** Whether it may be gone soon. */
  readonly passes: boolean;
}

/** Calls in a database. Each method is one step that happens whole or not at all, and may be repeated. */
export interface CallStore {
  /**
   * Claims a call that nobody has claimed, or whose claim may be taken over. A claim that is there
   * already is given once more.
   *
   * @returns What is held of the call then.
   */
  claim(key: string, claim: NewClaim): Promise<StoredWords>;
  /** Goes on with the lease of a claim; `false` when it is no longer the current one. */
  renew(key: string, claimId: string): Promise<boolean>;
  accept(key: string, task: StoredTask, claimId: string | undefined): Promise<void>;
  /** @param request - Of a call in doubt: see {@link readCall}. */
  finish(key: string, end: SubmitEnd, claimId: string | undefined, request: string): Promise<void>;
  read(key: string): Promise<StoredWords | undefined>;
  /** Says in words what an error of the database means. */
  explain(error: unknown): Problem;
}

export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

/** Checks options as plain JavaScript can pass them. */
export function checkOptions(options: unknown): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  check(isObject, 'options', 'must be an object.');
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

/** How long the lease of a claim is, checked. */
export function leaseOf({ lease = 30_000 }: StoredLedgerOptions): number {
  checkDuration('lease', lease, 1_000, 3_600_000);
  return lease;
}

const ends: readonly unknown[] = ['completed', 'failed', 'not_submitted', 'unknown'];

function checkClaimId(claimId: unknown): void {
  const isGood = claimId === undefined || (typeof claimId === 'string' && claimId !== '');
  check(isGood, 'claimId', 'must be the text that claim() gave.');
}

/**
 * A call id as every database can hold it. One that is long, or has characters that some cannot hold,
 * is known by a digest.
 */
async function keyOf(callId: unknown): Promise<string> {
  const isText = typeof callId === 'string' && callId !== '';
  check(isText, 'callId', 'is empty; give the id of your job.');
  if (callId.length <= 400 && !/^sha256:|\0|\p{Surrogate}/u.test(callId)) return callId;
  const bytes = new TextEncoder().encode(JSON.stringify(callId));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A handle as text. The same task is known by the beginning, whatever else is noted of it. */
function storedTask(given: VideoTaskRef): StoredTask {
  const { id, baseURL, ...rest } = parseVideoTaskRef(given);
  const start = `${JSON.stringify({ id, baseURL }).slice(0, -1)},`;
  return { ref: start + JSON.stringify(rest).slice(1), start };
}

function readRefs(texts: readonly string[]): VideoTaskRef[] {
  const refs = texts.map((text) => parseVideoTaskRef(JSON.parse(text)));
  const isFirst = (ref: VideoTaskRef, position: number): boolean =>
    refs.findIndex(({ id, baseURL }) => id === ref.id && baseURL === ref.baseURL) === position;
  return refs.filter(isFirst);
}

/** Marks a stored request whose error response was read to its end. */
const answeredMark = 'answered';

/** The request of a claim as text. It names its claim, as older versions leave it there for the next one. */
function storedRequest(
  claimId: string | undefined,
  requestId: unknown,
  isAnswered: boolean | undefined,
): string {
  // Ids of gateways are plain; what no database could be trusted with is left out.
  const isPlain = typeof requestId === 'string' && /^[!-~]{1,200}$/.test(requestId);
  if (claimId === undefined || !isPlain) return '';
  return [claimId, requestId, ...(isAnswered === true ? [answeredMark] : [])].join(' ');
}

/**
 * Reads what a database holds of a call.
 *
 * @param words - Its status, input hash and claim id, whether its lease goes on (`"true"`), the handle
 * that all who ask are given, those of further tasks, one a line, and the claim of which a request is
 * known, with that.
 */
function readCall(words: StoredWords): SubmitEntry {
  const [status = '', inputHash = '', claimId = '', isLeased, ref = '', others = '', request = ''] =
    words;
  const refs = readRefs([ref, ...others.split('\n')].filter((text) => text !== ''));
  const [first] = refs;
  if (first !== undefined) {
    const isOver = status === 'completed' || status === 'failed';
    return { status: isOver ? 'finished' : 'accepted', inputHash, ref: first, refs };
  }
  const isUnknown = status !== 'submitting';
  const isAlive = !isUnknown && isLeased === 'true';
  const claim = { inputHash, claimId, isAlive, refs };
  if (!isUnknown) return { status: 'submitting', ...claim };
  const [claimOfRequest, requestId, mark] = request.split(' ');
  if (claimOfRequest !== claimId) return { status: 'unknown', ...claim };
  const answered = mark === answeredMark && { isAnswered: true };
  return { status: 'unknown', ...claim, requestId, ...answered };
}

/** A pause that keeps no process alive that has nothing else to do. */
function unreferenced(act: () => void, delay: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(act, delay);
  if (typeof timer === 'object') timer.unref();
  return timer;
}

/** The end of something that may hang. What comes of it later is of no interest. */
async function within<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${Math.round(limit)} ms`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Pauses before a database is asked again, in milliseconds. Each is twice as long as the one before. */
const firstPause = 50;
const longestPause = 1_000;

/** Claims that were asked for and never answered are remembered, to be asked for again: so many. */
const mostUnanswered = 10_000;

/** A ledger over calls in a database, which any number of processes share. */
export class StoredLedger implements SubmitLedger {
  readonly #store: CallStore;
  readonly #lease: number;
  readonly #timeout: number;
  /** Timers of claims under way, by their ids. */
  readonly #heartbeats = new Map<string, ReturnType<typeof setTimeout>>();
  /** Claims that may be there although asking for them failed, by the keys of their calls. */
  readonly #unanswered = new Map<string, string>();

  constructor(store: CallStore, options: StoredLedgerOptions) {
    const { timeout = 10_000 } = options;
    checkDuration('timeout', timeout, 100, 600_000);
    this.#store = store;
    this.#lease = leaseOf(options);
    this.#timeout = timeout;
  }

  async claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim> {
    const key = await keyOf(callId);
    // Nothing was submitted under a claim that was never answered, so it may be used now. By one only.
    const claimId = this.#unanswered.get(key) ?? crypto.randomUUID();
    this.#unanswered.delete(key);
    const claim: NewClaim = { claimId, inputHash, replaces };
    let found: SubmitEntry;
    try {
      found = readCall(await this.#ask(callId, () => this.#store.claim(key, claim)));
    } catch (error) {
      if (this.#unanswered.size < mostUnanswered) this.#unanswered.set(key, claimId);
      throw error;
    }
    const { refs: _, ...known } = found;
    if (known.status !== 'submitting' || known.claimId !== claimId) return known;
    this.#beat(key, claimId);
    return { status: 'claimed', claimId };
  }

  async accept(callId: string, given: VideoTaskRef, claimId?: string): Promise<void> {
    const key = await keyOf(callId);
    checkClaimId(claimId);
    const task = storedTask(given);
    try {
      const enter = () => this.#store.accept(key, task, claimId);
      await this.#ask(callId, enter, 'Keep the handle of the task, and enter it again.');
    } finally {
      this.#rest(claimId);
    }
  }

  async finish(
    callId: string,
    end: SubmitEnd,
    claimId?: string,
    requestId?: string,
    isAnswered?: boolean,
  ): Promise<void> {
    const key = await keyOf(callId);
    checkClaimId(claimId);
    check(ends.includes(end), 'end', `must be one of "${ends.join('", "')}".`);
    this.#rest(claimId);
    const request = storedRequest(claimId, requestId, isAnswered);
    await this.#ask(callId, () => this.#store.finish(key, end, claimId, request), 'Say it again.');
  }

  async entry(callId: string): Promise<SubmitEntry | undefined> {
    const key = await keyOf(callId);
    const words = await this.#ask(callId, () => this.#store.read(key));
    return words && readCall(words);
  }

  /** Makes the database ready for its calls. */
  protected async prepare(act: () => Promise<void>): Promise<void> {
    await this.#ask(undefined, act);
  }

  /** Says again and again that a claim is being worked at, until it has led to something. */
  #beat(key: string, claimId: string): void {
    const beat = async (): Promise<void> => {
      const isOurs = await within(this.#store.renew(key, claimId), this.#lease).catch(() => true);
      if (isOurs && this.#heartbeats.has(claimId)) this.#beat(key, claimId);
      else this.#rest(claimId);
    };
    this.#heartbeats.set(
      claimId,
      unreferenced(() => void beat(), this.#lease / 3),
    );
  }

  #rest(claimId: string | undefined): void {
    if (claimId === undefined) return;
    clearTimeout(this.#heartbeats.get(claimId));
    this.#heartbeats.delete(claimId);
  }

  /**
   * Asks the database, and again for a while when it fails in a way that may pass.
   *
   * @param advice - What to do when something has been submitted already.
   * @throws `LedgerError`
   */
  async #ask<T>(callId: string | undefined, ask: () => Promise<T>, advice?: string): Promise<T> {
    const begun = performance.now();
    // A connection that hangs does not keep all the time for itself.
    const limit = this.#timeout / 3;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        return await within(ask(), limit);
      } catch (cause) {
        const { problem, passes } = this.#store.explain(cause);
        const isLast = performance.now() - begun + pause + limit > this.#timeout;
        if (!passes || isLast) {
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
