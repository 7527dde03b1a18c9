import type { CallRecord, Calls } from '../observing/calls.ts';
import type { BookLine, Books } from './books.ts';
import { isOpen, isPending, requestIdsOf, writtenBy } from './requests.ts';
import type { Amount, Settlement } from './types.ts';

/** What is to be settled, as far as it has names. */
interface Named {
  readonly requestIds: readonly string[];
  readonly taskIds: readonly string[];
  /** Whether no other request may belong to it than those that are named. */
  readonly isWhole: boolean;
}

/** What is to be settled, as far as it is known. */
export interface Question extends Named {
  /** The call of this client that is meant, where there is one; or why it cannot be told. */
  readonly call: CallRecord | string;
  /** When something was last heard of it: books that were read before cannot tell. */
  readonly heardAt: number;
}

/** A settlement, without the time of the reading that it comes from. */
export type Finding = Omit<Settlement, 'asOf'>;

/** The gateway's clock tells whole seconds, and its time is known to a second or two. */
const slack = 3_000;

const quota = (value: number): Amount => ({ value, unit: 'quota' });

const sum = (lines: readonly BookLine[]): number =>
  lines.reduce((total, { amount }) => total + amount.value, 0);

const unknowable = (why: string): Finding => ({ verdict: 'unknowable', why });

/** What absence means, which is nothing. */
const absent =
  'The books have no line that names it. That proves nothing: they lag behind, hold only the newest lines, and may not be kept for everything.';

/**
 * Concludes from the books what became of something. Only lines that name it prove anything; by model and
 * time a charge is concluded when nothing else can be meant.
 */
export function settleBy(question: Question, books: Books, calls: Calls): Finding {
  const named = settleByName(question, books);
  if (named.verdict !== 'unknowable' || question.isWhole) return named;
  const { call } = question;
  if (typeof call === 'string') {
    return unknowable(`${named.why} ${call}`);
  }
  const fitting = settleByFit(call, books, calls);
  const isEmpty = question.requestIds.length + question.taskIds.length === 0;
  return fitting.verdict === 'unknowable' && !isEmpty
    ? unknowable(`${named.why} ${fitting.why}`)
    : fitting;
}

/** The lines that name a request or a task, and what these name in turn. The newest first. */
function linesOf({ requestIds, taskIds }: Named, lines: readonly BookLine[]) {
  const requests = new Set(requestIds);
  const tasks = new Set(taskIds);
  for (let known = -1; known !== requests.size + tasks.size;) {
    known = requests.size + tasks.size;
    for (const { requestId, taskId } of lines) {
      if (requestId === undefined || taskId === undefined) continue;
      if (!requests.has(requestId) && !tasks.has(taskId)) continue;
      requests.add(requestId);
      tasks.add(taskId);
    }
  }
  const found = lines.filter(
    ({ requestId = '', taskId = '' }) => requests.has(requestId) || tasks.has(taskId),
  );
  return { found, requests, tasks };
}

/** The only one of some ids. */
function onlyOf(ids: readonly string[]): string | undefined {
  return new Set(ids).size === 1 ? ids[0] : undefined;
}

/** Concludes from lines that name the request or the task. */
function settleByName(question: Named, { lines }: Books): Finding {
  const { found, requests, tasks } = linesOf(question, lines);
  // Text may be the id of either, and is no task that is known then.
  const own = [...tasks].filter((id) => !requests.has(id));
  const about = {
    requestId: onlyOf(found.flatMap(({ requestId }) => requestId ?? [])),
    taskId: onlyOf([...own, ...found.flatMap(({ taskId }) => taskId ?? [])]),
  };
  const charges = found.filter(({ type }) => type === 'consume');
  const refunds = found.filter(({ type }) => type === 'refund');
  // The first charge of a task; a later one corrects its price.
  const base = charges.filter(({ finalQuota }) => finalQuota === undefined);
  if (base.length === 0) return { ...settleTask(found, question), ...about };
  const kept = sum(charges) - sum(refunds);
  if (kept > 0) {
    const [first] = base;
    const isLoose = own.length === 0 && base.some(({ isTask }) => isTask);
    if (isLoose && first !== undefined && mayBeRefunded(first, lines)) {
      return unknowable(
        'Its charge is in the books, but so is a refund of the same model, which may be its own: a refund names the task, and not the request. settle(task.ref) can tell.',
      );
    }
    const why = 'A line in the books that names it says that it was charged.';
    return { verdict: 'charged', amount: quota(kept), ...about, why };
  }
  if (refunds.length > 0) {
    const why =
      'Lines in the books that name it say that it was charged, and that all was given back.';
    return { verdict: 'refunded', amount: quota(sum(refunds)), ...about, why };
  }
  if (!isNamed(question, found)) return unknowable(partly);
  const why = 'The line in the books that names it says 0.';
  return { verdict: 'not_charged', amount: quota(0), ...about, why };
}

const partly =
  'A request of this call was not charged, but another one of it was sent that no line names.';

/** Whether a line names each request that may have been charged. */
function isNamed({ requestIds, isWhole }: Named, found: readonly BookLine[]): boolean {
  return isWhole && requestIds.every((id) => found.some(({ requestId }) => requestId === id));
}

/** Concludes where no line tells of the charge itself. */
function settleTask(found: readonly BookLine[], question: Named): Finding {
  const [last] = found.filter(({ type }) => type === 'refund' || type === 'consume');
  if (last === undefined) {
    if (found.length === 0) return unknowable(absent);
    if (!isNamed(question, found)) return unknowable(partly);
    const why =
      'A line in the books that names it says that it failed, and none that it was charged.';
    return { verdict: 'not_charged', amount: quota(0), why };
  }
  const { finalQuota, amount } = last;
  if (finalQuota !== undefined && finalQuota > 0) {
    const why = 'A line in the books that names the task says what it cost in the end.';
    return { verdict: 'charged', amount: quota(finalQuota), why };
  }
  const why = 'A line in the books that names the task says that it was given back.';
  return { verdict: 'refunded', amount, why };
}

/** Whether a refund of a task whose id is not known may be in the books. */
function mayBeRefunded(charge: BookLine, lines: readonly BookLine[]): boolean {
  return lines.some(({ type, model, at }) => {
    const isLater = at >= charge.at;
    return type === 'refund' && isLater && (model ?? charge.model) === charge.model;
  });
}

/** Whether a line may be about a call, as far as model, kind and time tell. */
function fits(line: BookLine, call: CallRecord, { clockAhead }: Books): boolean {
  const { model, operation, sentAt = 0 } = call;
  if (line.model !== undefined && model !== undefined && line.model !== model) return false;
  // Of other routes nobody knows what they do.
  const isKnown = line.type === 'consume' && !/^[A-Z]/.test(operation);
  if (isKnown && line.isTask !== operation.startsWith('videos.')) return false;
  if (clockAhead === undefined) return true;
  const at = line.at - clockAhead;
  return at + slack >= sentAt && at <= writtenBy(call);
}

/** Concludes from model and time, when one line and one call of this client fit each other alone. */
function settleByFit(call: CallRecord, books: Books, calls: Calls): Finding {
  const byTime = 'By model and time nothing can be concluded';
  if (isPending(call)) return unknowable(`${byTime}: the call is still under way.`);
  if (!isOpen(call)) return unknowable(absent);
  const { records, lost, forgottenUntil = 0 } = calls;
  const { clockAhead } = books;
  // What such calls have in the books looks like a line of any other.
  const isTold = clockAhead !== undefined && (call.sentAt ?? 0) - slack > forgottenUntil;
  if (lost > 0 || (forgottenUntil > 0 && !isTold)) {
    return unknowable(`${byTime}: this client has made too many calls to remember all of them.`);
  }
  const known = new Set(records.flatMap(requestIdsOf));
  // A call that was never told its request id, or has none yet, may own any of the lines that are left.
  const open = records.filter(isOpen);
  const first = Math.min(...records.map(({ sentAt = 0 }) => sentAt));
  const begun = Math.max(first, forgottenUntil) + (clockAhead ?? -Infinity);
  const left = books.lines.filter(
    ({ type, requestId, at }) =>
      (type === 'consume' || type === 'error') &&
      requestId !== undefined &&
      !known.has(requestId) &&
      at + slack >= begun,
  );
  if (left.some((line) => !open.some((other) => fits(line, other, books)))) {
    return unknowable(`${byTime}: the books have lines of somebody else who uses this key.`);
  }
  const [line, ...others] = left.filter((one) => fits(one, call, books));
  if (line === undefined) return unknowable(absent);
  if (others.length > 0) return unknowable(`${byTime}: more than one line fits.`);
  if (open.some((other) => other !== call && fits(line, other, books))) {
    return unknowable(`${byTime}: another call of this client is open that the line fits too.`);
  }
  // The line names a request, though not to us; what else names it, or its task, counts too.
  const requestIds = [line.requestId ?? ''];
  const found = settleByName({ requestIds, taskIds: [], isWhole: false }, books);
  if (found.verdict !== 'charged') {
    return unknowable(`${byTime}: the line that fits is not of a charge that was kept.`);
  }
  const why =
    'One line in the books and one open call of this client fit each other by model and time, and nothing else does. That supposes that nobody else uses the key.';
  return { ...found, why };
}
