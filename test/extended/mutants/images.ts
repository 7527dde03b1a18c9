import type { MutantsByFile } from './mutant.ts';

/** Submissions of images with a ledger. */
export const imageMutants: MutantsByFile = {
  'resources/images/submit.ts': [
    {
      is: "!GatewayError.isInstance(error) || error.outcome === 'unknown'",
      becomes: 'false',
    },
    { is: 'if (isRecorded) throw error;', becomes: '' },
    { is: 'await call.accept(ref).catch(() => {});', becomes: '' },
    { is: "if (ImageFailedError.isInstance(error)) await call.finish('failed');", becomes: '' },
    { is: 'if (ref.hasImages === true) {', becomes: 'if (false) {' },
  ],
};
