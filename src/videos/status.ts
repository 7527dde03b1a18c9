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
const words: Readonly<Record<VideoStatus, readonly string[]>> = {
  queued: [
    'queued',
    'queueing',
    'pending',
    'submitted',
    'created',
    'inqueue',
    'preparing',
    'notstart',
    'waiting',
  ],
  in_progress: ['inprogress', 'processing', 'running', 'generating', 'rendering'],
  completed: ['completed', 'complete', 'succeeded', 'succeed', 'success', 'done', 'finished'],
  failed: [
    'failed',
    'fail',
    'failure',
    'error',
    'errored',
    'abort',
    'aborted',
    'timedout',
    'timeout',
    'cancel',
    'cancelled',
    'canceled',
    'cancelling',
    'canceling',
    'killed',
    'interrupted',
    'blocked',
    'filtered',
    'denied',
    'refused',
    'revoked',
    'terminated',
    'expired',
    'rejected',
    'moderated',
  ],
};

const statusByWord = new Map<string, VideoStatus>([
  ...words.queued.map((word) => [word, 'queued'] as const),
  ...words.in_progress.map((word) => [word, 'in_progress'] as const),
  ...words.completed.map((word) => [word, 'completed'] as const),
  ...words.failed.map((word) => [word, 'failed'] as const),
]);

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
