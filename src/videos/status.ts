import type { VideoStatus } from './types.ts';

/** What a status word means. */
export interface StatusReading {
  readonly status: VideoStatus;
  /**
   * `known`: the word has this meaning. `empty`: the word says nothing yet; `unknown` is what many
   * gateways call a task that they have not looked at. `foreign`: not a word that is known here.
   */
  readonly word: 'known' | 'empty' | 'foreign';
}

/** Words of gateways and vendors, without separators and without what `JOB_STATE_` says. */
const words = {
  queued: 'queued queueing pending submitted created inqueue preparing notstart waiting',
  in_progress: 'inprogress processing running generating rendering',
  completed: 'completed complete succeeded succeed success done finished',
  failed: [
    'failed fail failure error errored timedout timeout expired',
    'abort aborted cancel cancelled canceled cancelling canceling killed interrupted terminated',
    'blocked filtered denied refused revoked rejected moderated',
  ].join(' '),
} satisfies Record<VideoStatus, string>;

const statusByWord = new Map<string, VideoStatus>();
for (const status of ['queued', 'in_progress', 'completed', 'failed'] as const) {
  for (const word of words[status].split(' ')) statusByWord.set(word, status);
}

/**
 * The status that a gateway's word stands for, in any case and spelling.
 *
 * A word that is not known counts as `queued`: a task that is paid for is never given up for a word.
 */
export function readStatusWord(word: string | undefined): StatusReading {
  const joined = (word ?? '').toLowerCase().replace(/[\s_-]/g, '');
  const plain = joined.replace(/^(?:job|task)?(?:state|status)?/, '') || joined;
  const status = statusByWord.get(plain);
  if (status !== undefined) return { status, word: 'known' };
  return { status: 'queued', word: plain === '' || plain === 'unknown' ? 'empty' : 'foreign' };
}
