import type { MutantsByFile } from './mutant.ts';

/** Verdicts on charges, and what a budget reserves and counts. */
export const accountMutants: MutantsByFile = {
  'resources/account/settle.ts': [
    { is: "type === 'error' ? amount.value > 0 :", becomes: "type === 'error' ? false :" },
    { is: 'const kept = sum(charges) - sum(refunds);', becomes: 'const kept = sum(charges);' },
    { is: 'if (isLoose && mayBeRefunded(first, lines)) {', becomes: 'if (false) {' },
    {
      is: 'question.makesTask === true || charges.some(({ isTask }) => isTask)',
      becomes: 'charges.some(({ isTask }) => isTask)',
    },
    {
      is: '!isWhole || !(isOnly || requestIds.every((id) => isNamed(id, found)))',
      becomes: '!isWhole',
    },
    {
      is: 'const isCovered = requestIds.length > 0 && requestIds.every((id) => isNamed(id, found));',
      becomes: 'const isCovered = requestIds.some((id) => isNamed(id, found));',
    },
    { is: 'if (!isWhole || !isCovered) return', becomes: 'if (!isCovered) return' },
    {
      is: "answeredIds.includes(id) || (isOld && entries.some(({ type }) => type === 'consume'))",
      becomes: 'answeredIds.includes(id) || isOld',
    },
    { is: 'ages.every((age) => age >= writingTime)', becomes: 'ages.every(() => true)' },
    { is: "return verdict !== 'charged' || !isRunning;", becomes: 'return true;' },
  ],
  'resources/account/budget.ts': [
    {
      is: 'if (taken + least <= limit * (1 + tolerance) && !isUsedUp) return;',
      becomes: 'if (!isUsedUp) return;',
    },
    { is: 'const taken = spent + reserved;', becomes: 'const taken = spent;' },
    { is: 'ledger.open.delete(reservation);', becomes: '' },
    { is: "outcome === 'not_sent' || outcome === 'rejected'", becomes: "outcome === 'not_sent'" },
    {
      is: 'amount === undefined || isLost ? Math.max(amount?.value ?? 0, reserved) : amount.value',
      becomes: 'amount?.value ?? 0',
    },
    {
      is: 'const lost = otherCharges(record, settings.idempotency) * reserved;',
      becomes: 'const lost = 0;',
    },
    { is: 'if (idempotency?.honored === true) return 0;', becomes: 'if (idempotency) return 0;' },
    { is: 'lost + (isAccepted ? 1 : 0) - 1', becomes: 'lost - 1' },
    {
      is: 'counted.ledger.spent += amount - counted.amount;',
      becomes: 'counted.ledger.spent += amount;',
    },
    { is: 'recount(counted, 0);', becomes: '' },
    { is: 'counted.ledger.spent -= counted.lost;', becomes: '' },
    { is: 'if (!isWhole) return;', becomes: '' },
    {
      is: "if (!isKnown && onMissingPrice === 'refuse') {",
      becomes: 'if (false) {',
    },
    {
      is: 'requested === undefined ? longest : Math.max(requested, shortest)',
      becomes: 'requested ?? longest',
    },
  ],
  'resources/account/spent.ts': [
    {
      is: 'known.get(calls)?.remove(call);\n  call.end =',
      becomes: 'call.end =',
    },
    {
      is: 'known.get(calls)?.remove(call);\n    call.isFree = true;',
      becomes: 'call.isFree = true;',
    },
    { is: '    call.isSummed = false;\n', becomes: '' },
    {
      is: "if (getOutcome(failed) !== 'unknown') return;",
      becomes: "if (getOutcome(failed) !== 'unknown' || failed.kind === 'server_error') return;",
    },
    {
      is: 'if (!isWhole || call.isFree) continue;',
      becomes: 'if (call.isFree) continue;',
    },
    { is: 'call.isFree = true;', becomes: '' },
    { is: '(sum * tasks) / costs.length', becomes: 'sum' },
    { is: 'if (dropped.end === undefined) dropped.onEnd = () => sums.add(dropped);', becomes: '' },
  ],
  'resources/account/budget-ledger.ts': [{ is: 'reservation.amount += more;', becomes: '' }],
  'resources/account/request-cost.ts': [
    { is: 'if (references.test(name)) return [[name]];', becomes: '' },
    { is: 'outputTokens: answer * answers', becomes: 'outputTokens: answer' },
  ],
  'resources/account/cost.ts': [
    { is: 'if (!(factor > 0)) return undefined;', becomes: '' },
    { is: 'if (ratios.size > 1) {', becomes: 'if (false) {' },
    { is: "kind === 'video' ? product : product * images", becomes: 'product * images' },
    { is: 'isSplit ? outputPrice : Math.max(outputPrice, imageOutput)', becomes: 'outputPrice' },
  ],
};
