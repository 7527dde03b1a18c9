import type { MutantsByFile } from './mutant.ts';

/** The order and the pace in which requests start. */
export const limitMutants: MutantsByFile = {
  'policies/limits/limits.ts': [
    { is: 'sentAt + minute > now', becomes: 'sentAt + minute / 2 > now' },
    { is: 'this.#running.size >= (concurrency', becomes: 'this.#running.size > (concurrency' },
    {
      is: 'if (count < mostRequests && used <= room) break;',
      becomes: 'if (count < mostRequests) break;',
    },
    { is: 'turn.sentAt = performance.now();', becomes: '' },
    {
      is: 'if (turn.sentAt === Infinity) this.#recent',
      becomes: 'if (turn.sentAt !== Infinity) this.#recent',
    },
    { is: 'pace.limit(Math.min(minute, hint))', becomes: 'pace.limit(hint)' },
  ],
  'policies/limits/turns.ts': [
    { is: 'if (lanes.has(item.lane)) continue;', becomes: '' },
    { is: 'if (all > 0) break;', becomes: 'if (all > 0) continue;' },
    { is: 'if (this.isLimited) this.hold(slowInterval);', becomes: '' },
    { is: '!this.isLimited || limits !== this.limits', becomes: '!this.isLimited' },
  ],
  'policies/limits/limit-call.ts': [{ is: 'submitted: end,', becomes: '' }],
};
