import type { GatewayRequest } from '../../calls/gateway-request.ts';
import { countFields, readUnits } from './cost.ts';
import type { CallRecord } from './record.ts';
import { type Item, type Sum, Sums } from './sums.ts';

/** The number of records above which the older half is dropped. */
const mostRecords = 3_000;

/** The number of calls that are kept. More are useless, because usage logs return only about 1,000 entries. */
const keptCalls = 1_500;

/** The token counts, besides those that most responses report. */
const otherCounts = countFields.filter((field) => !/^(input|output|total)Tokens$/.test(field));

/** Returns whether a ring of integers can hold a token count. */
const isSmall = (count = 0): boolean => Number.isInteger(count) && count >= 0 && count < 2 ** 31;

/** Returns whether token counts and a cost describe all that a call added to its sum. */
function isPlain({ usage = {}, units }: Item): boolean {
  const { inputTokens, outputTokens } = usage;
  if (units !== 1 || !isSmall(inputTokens) || !isSmall(outputTokens)) return false;
  return otherCounts.every((field) => !usage[field]);
}

/** The last calls that succeeded at once, in little memory: their request ids and what they added to their sums. */
class Successes {
  readonly #ids: (string | undefined)[] = [];
  readonly #sums: Sum[] = [];
  /** For each call: input and output tokens, each with one more; 0 if unknown. */
  readonly #tokens = new Uint32Array(2 * keptCalls);
  /** In US dollars; `undefined` before a response reports its cost. */
  #costs: (number | undefined)[] | undefined;
  /** The calls that these numbers do not describe, by place. */
  readonly #others = new Map<number, Item>();
  #next = 0;

  add(requestId: string, sum: Sum, item: Item): void {
    const place = this.#next;
    this.#next = (place + 1) % keptCalls;
    this.#ids[place] = requestId;
    this.#sums[place] = sum;
    if (!isPlain(item)) {
      this.#others.set(place, item);
      return;
    }
    this.#others.delete(place);
    const { inputTokens = -1, outputTokens = -1 } = item.usage ?? {};
    this.#tokens[2 * place] = inputTokens + 1;
    this.#tokens[2 * place + 1] = outputTokens + 1;
    if (item.cost !== undefined) this.#costs ??= [];
    if (this.#costs !== undefined) this.#costs[place] = item.cost;
  }

  /** Subtracts a call from its sum. */
  release(requestId: string): void {
    const place = this.#ids.indexOf(requestId);
    if (place === -1) return;
    this.#ids[place] = undefined;
    this.#sums[place]?.addAnswer(this.#others.get(place) ?? this.#read(place), -1);
  }

  #read(place: number): Item {
    const [inputTokens, outputTokens] = [...this.#tokens.subarray(2 * place, 2 * place + 2)].map(
      (count) => (count === 0 ? undefined : count - 1),
    );
    return { usage: { inputTokens, outputTokens }, cost: this.#costs?.[place], units: 1 };
  }
}

/** The calls of clients that share state: sums of all of them, and the last ones. */
export class Calls {
  readonly sums = new Sums();
  /** The last calls that failed, had failed attempts, submitted a task or belong to a budget. */
  records: CallRecord[] = [];
  #successes: Successes | undefined;

  /** Counts a call that has ended. Most are only added to a sum. */
  add(record: CallRecord): void {
    const { end, attempts, earlier, answer } = record;
    if (end === undefined || !record.isSent) return;
    const isDone = end.outcome === undefined && end.expected === undefined;
    const isAlone = attempts.length + earlier.length + end.taskIds.length === 0;
    if (isDone && isAlone && record.kind !== 'video' && record.held === undefined) {
      const sum = this.sums.of(record);
      const item: Item = { cost: end.cost, usage: end.usage, units: readUnits(record) };
      sum.addAnswer(item, 1);
      const requestId = answer?.requestId;
      if (requestId === undefined) return;
      this.#successes ??= new Successes();
      this.#successes.add(requestId, sum, item);
      return;
    }
    this.sums.add(record);
    if (this.records.push(record) >= mostRecords) this.records = this.records.slice(-keptCalls);
  }

  /** Stops counting a call that succeeded at once, by its request id. */
  releaseSuccess(requestId: string): void {
    this.#successes?.release(requestId);
  }
}

const allCalls = new WeakMap<object, Calls>();

/** Returns the calls of a client and of those that share their state with it. */
export function findCalls({ client: { shared } }: Pick<GatewayRequest, 'client'>): Calls {
  const known = allCalls.get(shared);
  if (known !== undefined) return known;
  const calls = new Calls();
  allCalls.set(shared, calls);
  return calls;
}
