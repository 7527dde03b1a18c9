import type { MutantsByFile } from './mutant.ts';

/** Errors in bodies, and tolerant readings of answers. */
export const answerMutants: MutantsByFile = {
  'answers/failure.ts': [
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
    {
      is: 'isFailed ? readErrorValue(value) : readErrorEvent(value, eventName)',
      becomes: 'readErrorEvent(value, eventName)',
    },
    { is: 'if (itemFailures.test(type)) return undefined;', becomes: '' },
    {
      is: "object === 'response' || (Array.isArray(output) && hasResponseId)",
      becomes: "object === 'response'",
    },
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
  'answers/cost.ts': [
    {
      is: 'if (isOwnKey === true && vendor !== undefined) return dollarsFrom((total ?? 0) + vendor);',
      becomes: '',
    },
    { is: 'cost >= 0 && cost <= highestCost ? cost', becomes: 'cost >= 0 ? cost' },
    { is: 'dollarsFrom(text) || undefined', becomes: 'dollarsFrom(text)' },
  ],
  'answers/usage.ts': [
    { is: "hasClaudesNames && !readCount(usage['prompt_tokens'])", becomes: 'hasClaudesNames' },
    {
      is: 'if (reasoningTokens && reported === counted + reasoningTokens) {',
      becomes: 'if (reasoningTokens) {',
    },
  ],
  'calls/response.ts': [
    { is: 'if (holdsContent(value)) return value;', becomes: '' },
    { is: 'return holdsContent(data) ? data : undefined;', becomes: 'return undefined;' },
    {
      is: "answer.spec.charge === 'free' ? 'undecided' : 'unusable_answer'",
      becomes: "'unusable_answer'",
    },
    {
      is: 'if (body === undefined || spec.holdsResult?.(value) === true) return;',
      becomes: 'if (body === undefined) return;',
    },
    {
      is: "charge === 'free' ? undefined : readFailedResponse(value)",
      becomes: 'readFailedResponse(value)',
    },
  ],
};
