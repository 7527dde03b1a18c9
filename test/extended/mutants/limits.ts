import type { MutantsByFile } from './mutant.ts';

/** The order and the pace in which requests start. */
export const limitMutants: MutantsByFile = {
  'policies/limits/limits.ts': [
    { is: 'turn.sentAt + minute > now', becomes: 'turn.sentAt + minute / 2 > now' },
    { is: 'this.#running.size >= (concurrency', becomes: 'this.#running.size > (concurrency' },
    {
      is: 'count >= mostRequests || used > room',
      becomes: 'count >= mostRequests',
    },
    { is: 'turn.sentAt = performance.now();', becomes: '' },
    {
      is: 'if (turn.sentAt === Infinity) this.#forget',
      becomes: 'if (turn.sentAt !== Infinity) this.#forget',
    },
    { is: 'this.#tokens += tokens - turn.tokens', becomes: '' },
    { is: 'pace.limit(Math.min(minute, hint))', becomes: 'pace.limit(hint)' },
  ],
  'http/turns.ts': [
    { is: 'waiting.order < first.order', becomes: 'waiting.order > first.order' },
    { is: 'if (all > 0) {', becomes: 'if (all > 0 && lane > 0) {' },
    { is: 'if (this.isLimited) this.hold(slowInterval);', becomes: '' },
    { is: '!this.isLimited || limits !== this.limits', becomes: '!this.isLimited' },
  ],
};
