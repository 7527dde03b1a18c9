import type { MutantsByFile } from './mutant.ts';

/** Errors in bodies, and tolerant readings of answers. */
export const answerMutants: MutantsByFile = {
  'answers/error-body.ts': [
    { is: '.at(-1)?.[1]', becomes: '.at(0)?.[1]' },
    { is: "value !== '0' && typeof value !== 'object'", becomes: "typeof value !== 'object'" },
    {
      is: "if (typeof code === 'string' && 'data' in body) return 'task';",
      becomes: '',
    },
    {
      is: "if (task === 'creates' && findId(body) !== undefined) return undefined;",
      becomes: '',
    },
    { is: 'if (success === false) return readErrorValue(value);', becomes: '' },
    { is: 'if (hasContent) return undefined;', becomes: '' },
    { is: 'if (isTask) return undefined;', becomes: '' },
    {
      is: 'hasValue(error) || (!hasId && hasErrorCode(body))',
      becomes: 'hasValue(error) || hasErrorCode(body)',
    },
    {
      is: 'isCode && !successCodes.test(`${code}`)',
      becomes: 'isCode',
    },
    { is: "if (eventName === 'error') return readErrorValue(value);", becomes: '' },
    { is: 'if (Array.isArray(choices ?? candidates)) return false;', becomes: '' },
    { is: "code === 0 || code === 200 || code === 'success'", becomes: 'code === 0' },
    { is: 'if (pieceFields.some((field) => field in value)) return false;', becomes: '' },
    { is: 'if (clean.length <= maxMessageLength) return clean;', becomes: 'return clean;' },
  ],
  'answers/objects.ts': [
    { is: 'Number.isSafeInteger(value) && value !== 0', becomes: 'value !== 0' },
    {
      is: "if (known.has(key) || key === '__proto__') continue;",
      becomes: 'if (known.has(key)) continue;',
    },
    { is: 'value.length > 0;\n', becomes: 'true;\n' },
  ],
  'answers/bytes.ts': [
    {
      is: 'decodeInto(text, bytes) === bytes.length && countDigits(text) % 4 !== 1',
      becomes: 'decodeInto(text, bytes) === bytes.length',
    },
  ],
};
