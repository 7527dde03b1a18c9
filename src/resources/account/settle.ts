import type { UsageLogEntry } from '../../options/gateway-profile.ts';
import type { UsageLog } from './usage-log.ts';
import type { Amount, Settlement } from './types.ts';

/** The ids that entries of the usage log may contain for the call to settle. */
export interface Question {
  readonly requestIds: readonly string[];
  readonly taskIds: readonly string[];
  /** The requests whose error response was read to its end: the gateway does not try them again. */
  readonly answeredIds: readonly string[];
  /** `true` if the id of every sent request is known. */
  readonly isWhole: boolean;
  /** `true` for a video submission, which may be accepted for 0 and charged when it completes. */
  readonly makesTask?: boolean;
  /** When the call ended, or 0. A read that began earlier proves nothing. */
  readonly endedAt: number;
}

/** The fields of a settlement that follow from the entries. */
type Finding = Pick<Settlement, 'verdict' | 'amount' | 'reason'>;

/** Time in which the gateway writes all entries of a request, in milliseconds. */
const writingTime = 5_000;

/** Returns an amount in the unit of the usage log. */
const amountIn = ([entry]: readonly UsageLogEntry[], value: number): Amount => ({
  value,
  unit: entry?.amount.unit ?? 'quota',
});

const sum = (entries: readonly UsageLogEntry[]): number =>
  entries.reduce((total, { amount }) => total + amount.value, 0);

const unknowable = (reason: string): Finding => ({ verdict: 'unknowable', reason });

const absent =
  'The usage log has no entry for it, which proves nothing: the log lags behind, returns only the newest entries, and may not record everything.';

const partly =
  'At least one request of this call has no entry in the usage log, and may have been charged.';

/**
 * Concludes from the usage log whether something was charged. Only entries with the id of one of its requests
 * or its task prove anything.
 *
 * @param asOf - When the read began, in milliseconds since 1970.
 */
export function settleBy(question: Question, log: UsageLog, asOf: number): Settlement {
  const { found, requests, tasks } = findEntries(question, log.lines);
  // A string may be a request id or a task id. It is a task id only if no entry has it as a request id.
  const ownTasks = [...tasks].filter((id) => !requests.has(id));
  const isTaskKnown = ownTasks.length > 0;
  const isOld = isSettled(question, found, log, asOf);
  const finding = conclude({ question, found, isTaskKnown, isOld, lines: log.lines });
  const isFinal = isOld && isConclusive(question, found, finding);
  const isOpen = finding.verdict === 'charged' && !isFinal;
  return {
    ...finding,
    isFinal,
    requestId: onlyOne(found.flatMap(({ requestId }) => requestId ?? [])),
    model: onlyOne(found.flatMap(({ type, model }) => (type === 'consume' && model) || [])),
    taskId: onlyOne([...ownTasks, ...found.flatMap(({ taskId }) => taskId ?? [])]),
    asOf,
    reason: isOpen ? `${finding.reason} The amount may still change.` : finding.reason,
  };
}

/**
 * Returns the entries that contain a request or task id, and those that contain an id from these entries.
 * Newest first.
 */
function findEntries({ requestIds, taskIds }: Question, lines: readonly UsageLogEntry[]) {
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

function onlyOne(ids: readonly string[]): string | undefined {
  return new Set(ids).size === 1 ? ids[0] : undefined;
}

/** The entries about the call to settle. */
interface Evidence {
  readonly question: Question;
  readonly found: readonly UsageLogEntry[];
  readonly isTaskKnown: boolean;
  /** `true` if no more entries are expected. */
  readonly isOld: boolean;
  /** All entries of the log. */
  readonly lines: readonly UsageLogEntry[];
}

function conclude(evidence: Evidence): Finding {
  const { question, found, isTaskKnown, lines } = evidence;
  if (found.length === 0) return unknowable(absent);
  const strange = found.find(isStrange);
  if (strange !== undefined) {
    return unknowable(
      `The usage log has an entry for it with the type "${strange.type}" and the amount ${strange.amount.value}, which proves nothing. Inspect it with charges().`,
    );
  }
  const charges = found.filter(({ type }) => type === 'consume');
  const refunds = found.filter(({ type }) => type === 'refund');
  // The first charge of a task; later charges correct its price.
  const [first, ...others] = charges.filter(({ finalQuota }) => finalQuota === undefined);
  if (first === undefined) return settleFailure(evidence);
  const kept = sum(charges) - sum(refunds);
  if (kept > 0) {
    const isLoose = !isTaskKnown && [first, ...others].some(({ isTask }) => isTask);
    if (isLoose && mayBeRefunded(first, lines)) {
      return unknowable(
        'The usage log has a charge for it, but also a refund for the same model, which may belong to it: a refund has the task id, but not the request id. Use settle(task.ref).',
      );
    }
    const reason = 'The usage log has a charge for it.';
    return { verdict: 'charged', amount: amountIn(found, kept), reason };
  }
  if (refunds.length > 0) return refunded(evidence, sum(refunds));
  if (question.makesTask === true || charges.some(({ isTask }) => isTask)) {
    return unknowable(
      'The usage log has an entry with the amount 0 for this request, so the video was accepted. It may be charged when it is done.',
    );
  }
  const reason = 'Its entries in the usage log have the amount 0.';
  return notCharged(evidence, reason);
}

/**
 * Returns whether an entry cannot be interpreted: forks have types of their own, and entries of failures cost
 * nothing.
 */
function isStrange({ type, amount }: UsageLogEntry): boolean {
  return type === 'error' ? amount.value > 0 : type !== 'consume' && type !== 'refund';
}

/** Returns the verdict if no entry is a charge. */
function settleFailure(evidence: Evidence): Finding {
  const [last] = evidence.found.filter(({ type }) => type !== 'error');
  if (last === undefined) {
    const reason = 'The usage log has a failure for it, and no charge.';
    return notCharged(evidence, reason);
  }
  const { finalQuota = 0, amount } = last;
  if (finalQuota === 0) return refunded(evidence, amount.value);
  const reason = 'The usage log has the final price of the task.';
  return { verdict: 'charged', amount: amountIn(evidence.found, finalQuota), reason };
}

/** Returns a refund, unless another request of the same call may have been charged. */
function refunded({ question, found }: Evidence, value: number): Finding {
  const { requestIds, isWhole } = question;
  const isOnly = requestIds.length <= 1;
  if (!isWhole || !(isOnly || requestIds.every((id) => isNamed(id, found)))) {
    return unknowable(partly);
  }
  const reason = 'The usage log has a refund of everything that was charged for it.';
  return { verdict: 'refunded', amount: amountIn(found, value), reason };
}

/**
 * Returns `not_charged` if no more entries can follow. The gateway writes an entry for each channel that fails
 * and then tries the next one, so a failure is final only once the error response was read.
 */
function notCharged({ question, found, isOld }: Evidence, reason: string): Finding {
  const { requestIds, answeredIds, isWhole } = question;
  const isCovered = requestIds.length > 0 && requestIds.every((id) => isNamed(id, found));
  if (!isWhole || !isCovered) return unknowable(partly);
  const isOver = (id: string): boolean => {
    const entries = found.filter(({ requestId }) => requestId === id);
    const isComplete = entries.some(
      ({ type, isEnded }) => isEnded || (isOld && type === 'consume'),
    );
    return isComplete || answeredIds.includes(id);
  };
  if (requestIds.every(isOver))
    return { verdict: 'not_charged', amount: amountIn(found, 0), reason };
  return unknowable(
    'The usage log has no charge for it yet, but no complete error response was read either, so the gateway may have tried another channel. Try again later.',
  );
}

function isNamed(id: string, found: readonly UsageLogEntry[]): boolean {
  return found.some(({ requestId }) => requestId === id);
}

/** Returns whether the entries cover every request, and a charged video can no longer be refunded. */
function isConclusive(
  { requestIds, isWhole }: Question,
  found: readonly UsageLogEntry[],
  { verdict }: Finding,
): boolean {
  if (verdict === 'unknowable' || !isWhole) return false;
  if (!requestIds.every((id) => isNamed(id, found))) return false;
  const isRunning =
    found.some(({ isTask }) => isTask) && found.every(({ finalQuota }) => finalQuota === undefined);
  return verdict !== 'charged' || !isRunning;
}

/** Returns whether call and entries are so old that no more entries are expected. */
function isSettled(
  { endedAt }: Question,
  found: readonly UsageLogEntry[],
  { clockAhead }: UsageLog,
  asOf: number,
): boolean {
  const newest = Math.max(...found.map(({ at }) => at));
  const ages = [
    ...(endedAt > 0 ? [asOf - endedAt] : []),
    ...(clockAhead === undefined ? [] : [asOf + clockAhead - newest]),
  ];
  return ages.length > 0 && ages.every((age) => age >= writingTime);
}

/** Returns whether the log may contain a refund of a task whose id is unknown. */
function mayBeRefunded(charge: UsageLogEntry, lines: readonly UsageLogEntry[]): boolean {
  return lines.some(({ type, model, at }) => {
    const isLater = at >= charge.at;
    return type === 'refund' && isLater && (model ?? charge.model) === charge.model;
  });
}
