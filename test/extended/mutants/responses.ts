import type { MutantsByFile } from './mutant.ts';

/** Responses of the Responses API, whole and streamed. */
export const responseMutants: MutantsByFile = {
  'resources/responses/accumulator.ts': [
    { is: 'restoreContent(this.#items, sent, byId);', becomes: '' },
    {
      is: 'if (hasValue(value) || !hasValue(target[key])) target[key] = value;',
      becomes: 'target[key] = value;',
    },
    {
      is: 'return isOther && (open.isDone || !isDone) ? undefined : open;',
      becomes: 'return open;',
    },
    { is: 'this.#items.sort(byOrder);', becomes: '' },
  ],
  'resources/responses/parse.ts': [
    { is: "item['phase'] !== 'commentary' && (", becomes: '(' },
    { is: 'message === undefined ? isEmpty(response) : !isRefusal(message)', becomes: 'true' },
  ],
  'resources/responses/schema.ts': [
    {
      is: "outputText(items) || ([sent, output].find(isText) ?? '')",
      becomes: 'outputText(items)',
    },
    { is: "if (status === 'failed' || hasValue(error)) return false;", becomes: '' },
  ],
  'resources/responses/protocol.ts': [{ is: '  endsAtProof: true,\n', becomes: '' }],
};
