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
    { is: 'ramp.limit(Math.min(minute, hint))', becomes: 'ramp.limit(hint)' },
  ],
  'policies/limits/ramp.ts': [
    { is: 'this.changes - changes > 1', becomes: 'false' },
    { is: 'this.#enter(0);', becomes: '' },
    { is: 'if (this.#starts >= 2 ** this.#step) this.#enter(this.#step + 1);', becomes: '' },
    { is: 'this.#next = performance.now() + this.#gap();', becomes: '' },
    { is: 'this.#next = 0;\n', becomes: '' },
  ],
  'http/fair-queue.ts': [
    { is: 'waiting.order < first.order', becomes: 'waiting.order > first.order' },
    { is: 'if (all > 0) {', becomes: 'if (all > 0 && lane > 0) {' },
    { is: 'if (this.isLimited) this.hold(slowInterval);', becomes: '' },
    { is: '!this.isLimited || limits !== this.limits', becomes: '!this.isLimited' },
  ],
};
