import type { MutantsByFile } from './mutant.ts';

/** JSON in texts, arguments of tools, and runs with tools. */
export const structuredMutants: MutantsByFile = {
  'structured/locate-json.ts': [
    { is: "whole?.includes('</th') === true ? whole : undefined", becomes: 'whole' },
    { is: "text.trim() === '' ? '{}' : text", becomes: 'text' },
    { is: 'inner === undefined ? value : parseJSON(inner)', becomes: 'value' },
  ],
  'structured/tool-loop.ts': [
    { is: 'isCut ? cutOff(text) : await', becomes: 'await' },
    { is: 'if (isOver) break;', becomes: '' },
    {
      is: 'if (isOver || left <= 1) return completion;',
      becomes: 'if (isOver) return completion;',
    },
    { is: 'dialect.isSequential ? calls.map((call) => [call]) : [calls]', becomes: '[calls]' },
  ],
  'resources/chat/call-repair.ts': [
    { is: 'if (last !== undefined && areArgumentsComplete(last)) return [last];', becomes: '' },
    {
      is: 'objects.every((object) => isSameJSON(object, first)) ? [first] : objects',
      becomes: 'objects',
    },
    { is: 'while (this.#used.has(unique)) {', becomes: 'while (false) {' },
  ],
  'resources/chat/delivery.ts': [
    { is: 'if (isFinish) held = chunk;\n      else emit(chunk);', becomes: 'emit(chunk);' },
    { is: 'keepsUsage && Boolean(chunk.usage)', becomes: 'Boolean(chunk.usage)' },
  ],
};
