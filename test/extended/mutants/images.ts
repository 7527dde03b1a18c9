import type { MutantsByFile } from './mutant.ts';

/** Submissions of images with a ledger. */
export const imageMutants: MutantsByFile = {
  'resources/images/submit.ts': [
    { is: 'isResult: (data) => !(data instanceof TaskResponse),', becomes: '' },
    { is: 'received === undefined && ref.hasImages === true', becomes: 'false' },
    {
      is: 'if (!ImageWaitAbortedError.isInstance(error) || error.cause !== tooLate) {',
      becomes: 'if (true) {',
    },
    {
      is: 'Math.min(defaults.pollTimeout, options.timeout ?? defaults.pollTimeout)',
      becomes: 'defaults.pollTimeout',
    },
  ],
  'resources/images/wait.ts': [{ is: 'attachRequestId(images, ref.requestId);', becomes: '' }],
};
