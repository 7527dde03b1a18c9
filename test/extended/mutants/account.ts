import type { MutantsByFile } from './mutant.ts';

/** Verdicts on charges, and what a budget reserves and counts. */
export const accountMutants: MutantsByFile = {
  'gateways/openrouter-account.ts': [
    { is: 'isEnded: hasEndedWell && isOwnKey !== true', becomes: 'isEnded: hasEndedWell' },
    { is: 'isEnded: hasEndedWell && isOwnKey !== true', becomes: 'isEnded: isOwnKey !== true' },
  ],
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
      is: "isEnded || (isOld && type === 'consume')",
      becomes: 'isEnded || isOld',
    },
    {
      is: "isEnded || (isOld && type === 'consume')",
      becomes: "isOld && type === 'consume'",
    },
    { is: 'ages.every((age) => age >= writingTime)', becomes: 'ages.every(() => true)' },
    { is: "return verdict !== 'charged' || !isRunning;", becomes: 'return true;' },
  ],
  'resources/account/budget/state.ts': [
    {
      is: 'if (taken + needed <= limit * (1 + tolerance) && !isUsedUp) return;',
      becomes: 'if (!isUsedUp) return;',
    },
    { is: 'const taken = spent + reserved;', becomes: 'const taken = spent;' },
    {
      is: "if (!isKnown && onMissingPrice === 'refuse') {",
      becomes: 'if (false) {',
    },
    { is: 'if (unread !== undefined) throw unread;', becomes: '' },
    { is: 'ledger.starting = undefined;', becomes: '' },
    { is: "if ('base' in expected) continue;", becomes: 'continue;' },
  ],
  'resources/account/budget/reservation.ts': [
    { is: 'this.#ledger.close(this);', becomes: '' },
    { is: "outcome === 'not_sent' || outcome === 'rejected'", becomes: "outcome === 'not_sent'" },
    { is: 'amount === undefined || isLost ? reserved : 0', becomes: '0' },
    { is: '+ lost * this.#costOfLost;', becomes: ';' },
    {
      is: 'this.#ledger.spent += counted - this.#counted;',
      becomes: 'this.#ledger.spent += counted;',
    },
    { is: '(isFree ? 0 : this.#costOfLast())', becomes: 'this.#costOfLast()' },
    {
      is: 'this.#costOfLast = () => Math.max(least, last);',
      becomes: 'this.#costOfLast = () => last;',
    },
    { is: 'return Math.max(least, counted);', becomes: 'return counted;' },
    { is: 'if (isBound) learned.overrun', becomes: 'if (false) learned.overrun' },
  ],
  'resources/account/budget/expected-cost.ts': [
    {
      is: 'requested === undefined ? longest : Math.max(requested, shortest)',
      becomes: 'requested ?? longest',
    },
    {
      is: 'return Math.max(leastCost(planned) ?? 0, base + each * count);',
      becomes: 'return leastCost(planned) ?? base + each * count;',
    },
    { is: 'isBound ? amount - (base - certain) : certain', becomes: 'certain' },
    { is: 'isBound ? perUnit + overrun : excess', becomes: 'excess' },
    { is: '* imageCount(record);', becomes: ';' },
  ],
  'resources/account/spent.ts': [
    { is: 'call.isFree = true;', becomes: '' },
    {
      is: 'if (!hasUnnamedRequest(call, isProved)) call.lost = 0;',
      becomes: 'call.lost = 0;',
    },
    { is: 'calls.releaseSuccess(requestId);', becomes: '' },
    { is: '(sum * tasks) / costs.length', becomes: 'sum' },
    { is: 'settings.idempotency?.honored === true ? 0', becomes: 'settings.idempotency ? 0' },
    { is: 'this.#isAccepted ? 0 : 1', becomes: '1' },
  ],
  'resources/account/sums.ts': [
    { is: 'if (call.isSummed) this.of(call).add(call, -1);', becomes: '' },
    { is: 'if (lost > 0) this.#possible.add(likely, sign * lost);', becomes: '' },
    { is: 'this.#lost += sign * lost;', becomes: '' },
    { is: 'usage: expected ?? usage', becomes: 'usage' },
    { is: 'if (isFree) return;', becomes: '' },
  ],
  'resources/account/calls.ts': [
    { is: 'this.#ids[place] = undefined;', becomes: '' },
    { is: 'this.#others.get(place) ?? this.#read(place)', becomes: 'this.#read(place)' },
    { is: 'this.#others.delete(place);', becomes: '' },
    { is: '(place + 1) % keptCalls', becomes: 'place + 1' },
  ],
  'calls/history.ts': [{ is: "if (outcome === 'unknown') this.lost += 1;", becomes: '' }],
  'calls/budget-ledger.ts': [
    { is: 'reservation.amount += more;', becomes: '' },
    { is: 'if (this.isStarted) return;', becomes: '' },
  ],
  'resources/account/budget/request-cost.ts': [
    { is: 'if (references.test(name)) return [[name]];', becomes: '' },
    {
      is: 'answers * Math.max(1, bound ?? assumedTokens)',
      becomes: 'Math.max(1, bound ?? assumedTokens)',
    },
    { is: 'found.length === 0 ? undefined : Math.max(...found)', becomes: 'found[0]' },
  ],
  'resources/account/readings.ts': [
    { is: 'if (this.#isGuess && isForeign) throw', becomes: 'if (isForeign) throw' },
    { is: 'if (this.#isGuess && !isOfFamily(error))', becomes: 'if (this.#isGuess)' },
  ],
  'calls/transport.ts': [
    {
      is: 'this.client.shared.mediaModels?.has(model) === true ||',
      becomes: '',
    },
  ],
  'resources/account/cost.ts': [
    { is: 'if (!(factor > 0)) return undefined;', becomes: '' },
    { is: 'if (ratios.size > 1) {', becomes: 'if (false) {' },
    { is: "kind === 'video' ? product : product * images", becomes: 'product * images' },
    { is: 'isSplit ? outputPrice : Math.max(outputPrice, imageOutput)', becomes: 'outputPrice' },
  ],
};
