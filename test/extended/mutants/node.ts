import type { MutantsByFile } from './mutant.ts';

/** Downloads, and the ledger in a folder. */
export const nodeMutants: MutantsByFile = {
  'adapters/node/parts.ts': [
    {
      is: 'changed !== null && age >= 1_000 ? changed : undefined',
      becomes: 'changed ?? undefined',
    },
    { is: 'return named === null || named === validator;', becomes: 'return true;' },
    {
      is: 'const isOwned = host !== undefined && isRecent && !isEnded;',
      becomes: 'const isOwned = false;',
    },
  ],
  'adapters/node/download-video.ts': [
    {
      is: 'start === file.size && isSameVersion(headers, part)',
      becomes: 'isSameVersion(headers, part)',
    },
    { is: 'if (file.size > total) await this.#part.restart(undefined);', becomes: '' },
    { is: 'if (file.size > longest) failures = 0;', becomes: '' },
  ],
  'adapters/node/file-ledger.ts': [
    {
      is: 'created !== undefined && !(await this.#hasRival(callId, claimId, found))',
      becomes: 'created !== undefined',
    },
    { is: 'claimed !== undefined && tasks.length === 0', becomes: 'claimed !== undefined' },
    { is: 'found.every(isReleased)', becomes: 'found.some(isReleased)' },
    {
      is: '(claimId ?? claimIdFor(current)) !== claimIdFor(current)',
      becomes: 'false',
    },
    {
      is: 'found?.isSymbolicLink() === true ? unreadableEntry(callId) : undefined',
      becomes: 'undefined',
    },
    {
      is: 'isEntry(value, callId) ? value : unreadableEntry(callId)',
      becomes: 'isEntry(value, callId) ? value : undefined',
    },
  ],
};
