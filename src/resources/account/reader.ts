import { check, checkModel, checkObject, checkText } from '../../options/check.ts';
import type { AttemptEvidence } from '../../errors/gateway-error.ts';
import type { Transport } from '../../calls/transport.ts';
import type { ClientSettings } from '../../calls/settings.ts';
import { readBalance } from './balance.ts';
import type { AccountRules } from '../../options/gateway-profile.ts';
import { UsageLogReader, type UsageLog } from './usage-log.ts';
import { findCalls } from './calls.ts';
import {
  readAnsweredIds,
  hasUnnamedRequest,
  type IsLogged,
  findLastEnd,
  readQuestion,
  readRequestIds,
} from './questions.ts';
import { type Reading, readOptions, AccountRoutes, Shared } from './readings.ts';
import { type Question, settleBy } from './settle.ts';
import { releaseCalls } from './spent.ts';
import type { AccountOptions, Balance, Charges, ChargesQuery, Settlement } from './types.ts';

/** Maximum age of a cached read, in milliseconds. */
const freshFor = 5_000;

/** Each key on each gateway has its own usage log. */
const readers = new WeakMap<ClientSettings, AccountReader>();

/** Reads the usage log and the balance of one client. */
export class AccountReader {
  readonly #usageLog: Shared<UsageLog>;
  readonly #balance: Shared<Omit<Balance, 'asOf'>>;

  readonly #caller: Transport;
  readonly #log: UsageLogReader;
  readonly #rules: AccountRules;
  readonly #isLogged: IsLogged;

  private constructor(caller: Transport) {
    this.#caller = caller.snapshot();
    const routes = new AccountRoutes(this.#caller);
    const log = new UsageLogReader(routes);
    this.#log = log;
    this.#rules = routes.rules;
    const { isLogged = () => true } = routes.rules;
    this.#isLogged = (id) => id !== undefined && isLogged(id);
    this.#usageLog = new Shared(() => log.read());
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
    const ids = requestId === undefined ? [] : [requestId];
    const { charge, charges } = this.#rules;
    const needsId = charge !== undefined && charges === undefined && requestId === undefined;
    check(!needsId, 'requestId', 'is missing; this gateway finds charges only by request id.');
    const { value, asOf } = await this.#readLog(ids, options);
    const data = value.lines.filter(
      (line) =>
        (requestId ?? line.requestId) === line.requestId &&
        (taskId ?? line.taskId) === line.taskId &&
        (model ?? line.model) === line.model &&
        (type ?? line.type) === line.type &&
        line.at >= first &&
        line.at <= last,
    );
    return { data, asOf, oldestAt: value.lines.at(-1)?.at };
  }

  async balance(options: AccountOptions): Promise<Balance> {
    const { value, asOf } = await read(this.#balance, options, freshFor);
    return { ...value, asOf };
  }

  async settle(given: unknown, options: AccountOptions): Promise<Settlement> {
    const question = readQuestion(
      given,
      this.#caller.baseURL,
      findCalls(this.#caller),
      this.#isLogged,
      this.#caller.gateway?.profile.requestIdHeaders,
    );
    if (typeof question !== 'string') return this.#settle(question, options);
    return { verdict: 'unknowable', isFinal: false, asOf: Date.now(), reason: question };
  }

  /** Settles a video submission from a ledger, by its call id and its request id if that is known. */
  async settleCall(
    callId: string,
    { requestId, isErrorComplete }: Pick<AttemptEvidence, 'requestId' | 'isErrorComplete'>,
    signal: AbortSignal | null | undefined,
  ): Promise<Settlement> {
    const { records } = findCalls(this.#caller);
    const callRecords = records.filter(({ end }) => end?.callId === callId);
    // Also uses requests of this process, because custom ledgers may not store request ids.
    const [only, ...others] =
      callRecords.length === 1 ? new Set(callRecords.flatMap(readRequestIds)) : [];
    const named = requestId ?? (others.length === 0 ? only : undefined);
    const question: Question = {
      requestIds: named === undefined ? [] : [named],
      taskIds: [],
      answeredIds: [
        ...readAnsweredIds(callRecords),
        ...(isErrorComplete === true && requestId !== undefined ? [requestId] : []),
      ],
      isWhole:
        named !== undefined && !callRecords.some((call) => hasUnnamedRequest(call, this.#isLogged)),
      makesTask: true,
      endedAt: findLastEnd(callRecords),
    };
    return this.#settle(question, { signal });
  }

  async #settle(question: Question, options: AccountOptions): Promise<Settlement> {
    const { requestIds, endedAt } = question;
    const { value, asOf } = await this.#readLog(requestIds, options, endedAt);
    const settlement = settleBy(question, value, asOf);
    const { verdict, isFinal } = settlement;
    const isFree = isFinal && (verdict === 'refunded' || verdict === 'not_charged');
    if (isFree) releaseCalls(findCalls(this.#caller), question);
    return settlement;
  }

  /** Reads the entries of some requests if the gateway finds entries by id, otherwise the newest entries. */
  async #readLog(
    requestIds: readonly string[],
    options: AccountOptions,
    notBefore?: number,
  ): Promise<Reading<UsageLog>> {
    const { charge, charges } = this.#rules;
    const canFind = charge !== undefined && (requestIds.length > 0 || charges === undefined);
    if (!canFind) return read(this.#usageLog, options, freshFor, notBefore);
    const { signal } = readOptions(options, freshFor);
    return new Shared(() => this.#log.find(requestIds)).get(0, signal);
  }
}

/** Looks up the outcome of a video submission in the usage log; see `AccountReader.settleCall()`. */
export const settleSubmission = (
  transport: Transport,
  ...question: Parameters<AccountReader['settleCall']>
): Promise<Settlement> => AccountReader.of(transport).settleCall(...question);

function read<T>(
  shared: Shared<T>,
  options: AccountOptions | null,
  freshest: number,
  notBefore = 0,
): Promise<Reading<T>> {
  const choices = readOptions(options, freshest);
  return shared.get(Math.max(notBefore, choices.notBefore), choices.signal);
}

function checkQuery(query: ChargesQuery | null): ChargesQuery {
  checkObject('query', query);
  const { requestId, taskId, since, from, to, model, type } = query ?? {};
  const known = 'the requestID of an error or the _request_id of a response';
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
  check(time > 1e11, field, 'is in seconds; pass milliseconds since 1970, or a date.');
}
