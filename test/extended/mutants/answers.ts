import type { MutantsByFile } from './mutant.ts';

/** Errors in bodies, and tolerant readings of answers. */
export const answerMutants: MutantsByFile = {
  'answers/failure.ts': [
    { is: '.at(-1)?.[1]', becomes: '.at(0)?.[1]' },
    { is: '/^(|0|20\\d|ok|none', becomes: '/^(|20\\d|ok|none' },
    {
      is: 'code !== undefined && !nothingFailed.test(code)',
      becomes: 'code !== undefined',
    },
    {
      is: "if (typeof code === 'string' && 'data' in body) return 'task';",
      becomes: '',
    },
    { is: 'if (findId(level) !== undefined) return false;', becomes: '' },
    { is: 'if (success === false) return false;', becomes: '' },
    { is: 'if (hasContent) return true;', becomes: '' },
    { is: 'return !isPaid || !hasFailed(body);', becomes: 'return !hasFailed(body);' },
    {
      is: 'return findId(body) !== undefined || (!isDocumented && code === undefined);',
      becomes: 'return !isDocumented && code === undefined;',
    },
    { is: 'hasMessage && isFailureCode(code)', becomes: 'hasMessage' },
    { is: "if (eventName === 'error') return readErrorValue(value);", becomes: '' },
    { is: "return isNonEmpty(firstObject(choices)?.['error']);", becomes: 'return false;' },
    { is: ' || (codeText(code) !== undefined && !isFailureCode(code))', becomes: '' },
    {
      is: "if ((isText(object) && object !== 'error') || 'usageMetadata' in value) {",
      becomes: 'if (false) {',
    },
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
    { is: 'value.length > 0;\n', becomes: 'true;\n' },
  ],
  'answers/pieces.ts': [
    {
      is: "if (known?.has(key) === true || key === '__proto__') continue;",
      becomes: 'if (known?.has(key)) continue;',
    },
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
    { is: 'if (!hasResult && saysFailure(sent)) {', becomes: 'if (saysFailure(sent)) {' },
    {
      is: 'spec.holdsResult?.(sent) ?? (isObject(sent) && isIn(sent))',
      becomes: 'isObject(sent) && isIn(sent)',
    },
    { is: 'isHere ? value : unwrapData(value)', becomes: 'unwrapData(value)' },
    { is: 'isHere ? value : unwrapData(value)', becomes: 'value' },
    {
      is: "spec.charge === 'free' ? 'other_shape' : 'unusable_answer'",
      becomes: "'unusable_answer'",
    },
  ],
};
