import {
  check,
  checkDuration,
  checkModel,
  checkObject,
  checkOptions,
  checkSignal,
  checkText,
} from '../check.ts';
import type { SubmittedRequest, Transport } from '../http/transport.ts';
import type { ClientSettings } from '../http/settings.ts';
import { readBalance } from './balance.ts';
import { BookReader, type Books } from './books.ts';
import {
  answeredIdsOf,
  hasUnnamedRequest,
  lastEndOf,
  readQuestion,
  requestIdsOf,
} from './questions.ts';
import { type Reading, Routes, Shared } from './readings.ts';
import { type Question, settleBy } from './settle.ts';
import type { AccountOptions, Balance, Charges, ChargesQuery, Settlement } from './types.ts';

/** How old a reading may be that is used again, in milliseconds. */
const freshFor = 5_000;

/** Another key, or another gateway, has other books. */
const readers = new WeakMap<ClientSettings, AccountReader>();

/** Answers questions to the account of one client. A page that asks none does not load it. */
export class AccountReader {
  readonly #books: Shared<Books>;
  readonly #balance: Shared<Omit<Balance, 'asOf'>>;

  readonly #caller: Transport;

  private constructor(caller: Transport) {
    this.#caller = caller.snapshot();
    const routes = new Routes(this.#caller);
    const log = new BookReader(routes);
    this.#books = new Shared(() => log.read());
    this.#balance = new Shared(() => readBalance(routes));
  }

  static of(caller: Transport): AccountReader {
    const reader = readers.get(caller.client) ?? new AccountReader(caller);
    readers.set(caller.client, reader);
    return reader;
  }

  async charges(query: ChargesQuery | null, options: AccountOptions): Promise<Charges> {
    const { requestId, taskId, since, from, to, model, type } = checkQuery(query);
    // The gateway's times are whole seconds.
    const first = Math.floor(Number(from ?? since ?? -Infinity) / 1_000) * 1_000;
    const last = Number(to ?? Infinity);
    const { value, asOf } = await read(this.#books, options, freshFor);
    const data = value.lines.filter(
      (line) =>
        (requestId ?? line.requestId) === line.requestId &&
        (taskId ?? line.taskId) === line.taskId &&
        (model ?? line.model) === line.model &&
        (type ?? line.type) === line.type &&
        line.at >= first &&
        line.at <= last,
    );
    return { data, asOf, reachesBackTo: value.lines.at(-1)?.at };
  }

  async balance(options: AccountOptions): Promise<Balance> {
    const { value, asOf } = await read(this.#balance, options, freshFor);
    return { ...value, asOf };
  }

  async settle(given: unknown, options: AccountOptions): Promise<Settlement> {
    const { baseURL, calls } = this.#caller;
    const question = readQuestion(given, baseURL, calls);
    if (typeof question !== 'string') return this.#settle(question, options);
    return { verdict: 'unknowable', isFinal: false, asOf: Date.now(), why: question };
  }

  /** Settles a video submission that a ledger knows by its call id, and its request where that is known. */
  async settleCall(
    callId: string,
    { requestId, isAnswered }: SubmittedRequest,
    signal: AbortSignal | null | undefined,
  ): Promise<Settlement> {
    const { calls } = this.#caller;
    const own = calls.records.filter(({ end }) => end?.callId === callId);
    // Requests of this process: the ledger may be one that does not keep them.
    const [only, ...others] = own.length === 1 ? new Set(own.flatMap(requestIdsOf)) : [];
    const named = requestId ?? (others.length === 0 ? only : undefined);
    const question: Question = {
      requestIds: named === undefined ? [] : [named],
      taskIds: [],
      answeredIds: [
        ...answeredIdsOf(own),
        ...(isAnswered === true && requestId !== undefined ? [requestId] : []),
      ],
      isWhole: named !== undefined && !own.some(hasUnnamedRequest),
      makesTask: true,
      endedAt: lastEndOf(own),
    };
    return this.#settle(question, { signal });
  }

  async #settle(question: Question, options: AccountOptions): Promise<Settlement> {
    const { value, asOf } = await read(this.#books, options, freshFor, question.endedAt);
    return settleBy(question, value, asOf);
  }
}

export const charges = (caller: Transport, query: ChargesQuery | null, options: AccountOptions) =>
  AccountReader.of(caller).charges(query, options);
export const balance = (caller: Transport, _: undefined, options: AccountOptions) =>
  AccountReader.of(caller).balance(options);
export const settle = (caller: Transport, question: unknown, options: AccountOptions) =>
  AccountReader.of(caller).settle(question, options);

/** Checks the options of a reading. Times are in milliseconds since 1970. */
export function readOptions(
  options: AccountOptions | null,
  freshest: number,
): { readonly notBefore: number; readonly signal: AbortSignal | null | undefined } {
  checkOptions(options);
  const { maxAge, signal } = options ?? {};
  checkSignal(signal);
  const age = maxAge === undefined ? freshest : checkDuration('maxAge', maxAge, 0);
  return { notBefore: Date.now() - age, signal };
}

function read<T>(
  shared: Shared<T>,
  options: AccountOptions | null,
  freshest: number,
  notBefore = 0,
): Promise<Reading<T>> {
  const own = readOptions(options, freshest);
  return shared.get(Math.max(notBefore, own.notBefore), own.signal);
}

function checkQuery(query: ChargesQuery | null): ChargesQuery {
  checkObject('query', query);
  const { requestId, taskId, since, from, to, model, type } = query ?? {};
  const known = 'the requestID of an error or the _request_id of an answer';
  if (requestId !== undefined) checkText('requestId', requestId, known);
  if (taskId !== undefined) checkText('taskId', taskId, 'the id of a video task');
  if (model !== undefined) checkModel(model);
  if (type !== undefined) checkText('type', type, '"consume", "refund" or "error"');
  for (const [field, time] of Object.entries({ since, from, to })) checkTime(field, time);
  return query ?? {};
}

/** Checks a point in time, in milliseconds since 1970. */
function checkTime(field: string, value: unknown): void {
  if (value === undefined) return;
  const isTime = value instanceof Date || typeof value === 'number';
  const time = isTime ? Number(value) : Number.NaN;
  check(Number.isFinite(time), field, 'must be a date or milliseconds since 1970.');
  check(time > 1e11, field, 'is in seconds; give milliseconds since 1970, or a date.');
}
