import type { MutantsByFile } from './mutant.ts';

/** Responses of the Responses API, whole and streamed. */
export const responseMutants: MutantsByFile = {
  'resources/responses/accumulator.ts': [
    {
      is: 'this.#isEnded = finalStatuses.includes(end) && finalStatuses.includes(status);',
      becomes: 'this.#isEnded = finalStatuses.includes(end);',
    },
    {
      is: 'if (!isEnd || items.length === 0 || isEmpty) return;',
      becomes: 'if (!isEnd || items.length === 0) return;',
    },
    { is: 'for (const { item } of this.#items) earlier.restore(item);', becomes: '' },
    {
      is: 'if (hasValue(value) || !hasValue(target[key])) target[key] = value;',
      becomes: 'target[key] = value;',
    },
    {
      is: 'return isOther && (open.isDone || !isDone) ? undefined : open;',
      becomes: 'return open;',
    },
    { is: "one['content_index'] === other['content_index'] &&", becomes: '' },
    { is: 'if (!this.#isSorted) this.#items.sort', becomes: 'if (false) this.#items.sort' },
  ],
  'resources/responses/parse.ts': [
    { is: "item['phase'] !== 'commentary' && (", becomes: '(' },
    { is: 'message === undefined || isRefusal(message) ? undefined : message', becomes: 'message' },
    {
      is: 'parse === undefined || message === undefined || isQueued',
      becomes: 'parse === undefined || message === undefined',
    },
  ],
  'resources/responses/schema.ts': [
    {
      is: "outputText(items) || ([sent, output].find(isText) ?? '')",
      becomes: 'outputText(items)',
    },
    { is: "if (status === 'failed' || hasValue(error)) return false;", becomes: '' },
  ],
  'resources/responses/protocol.ts': [
    { is: '  endsAtProof: true,\n', becomes: '' },
    {
      is: "isOver ? `response.${status}` : 'response.in_progress'",
      becomes: '`response.${status}`',
    },
  ],
};
