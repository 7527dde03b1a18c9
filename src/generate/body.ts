import type { Content, Part } from './types.ts';
import type {
  ContentInput,
  ContentsInput,
  GenerateContentParams,
  SystemInstructionInput,
} from './params.ts';
import { check, checkModel, checkParams } from '../check.ts';

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** A list of one, where there is no list. */
export function toList<Item>(value: Item | readonly Item[]): readonly Item[] {
  return isList(value) ? value : [value];
}

function toTurn({ parts, ...turn }: ContentInput): Content {
  return parts === undefined ? turn : { ...turn, parts: [...toList(parts)] };
}

function isTurn(value: string | Part | ContentInput): value is ContentInput {
  return typeof value === 'object' && ('parts' in value || 'role' in value);
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || content === '';
}

/** Contents in the only form that the gateway takes. Texts and parts in a row are one turn of the user. */
export function toContents(contents: ContentsInput): readonly Content[] {
  const list = toList(contents);
  check(
    list.length > 0 && !list.some(isEmpty),
    'contents',
    'is empty; give text, or a list of turns such as { role: "user", parts: [{ text: "Hello" }] }.',
  );
  const turns: Content[] = [];
  let parts: Part[] | undefined;
  for (const item of list) {
    if (isTurn(item)) {
      turns.push(toTurn(item));
      parts = undefined;
      continue;
    }
    if (parts === undefined) turns.push({ role: 'user', parts: (parts = []) });
    parts.push(typeof item === 'string' ? { text: item } : item);
  }
  return turns;
}

function toInstruction(instruction: SystemInstructionInput): Content {
  if (typeof instruction === 'string') return { parts: [{ text: instruction }] };
  return isList(instruction) ? { parts: [...instruction] } : toTurn(instruction);
}

/** Other names of the fields, which the gateway drops without a word: in snake case, and of `@google/genai`. */
const otherNames: Readonly<Record<string, string>> = {
  config: 'its fields beside contents, and those of the model in generationConfig',
  generation_config: 'generationConfig',
  system_instruction: 'systemInstruction',
  safety_settings: 'safetySettings',
  tool_config: 'toolConfig',
  cached_content: 'cachedContent',
};

function checkSpelling(params: object): void {
  for (const name of Object.keys(params)) {
    const known = otherNames[name];
    check(known === undefined, name, `is not understood by the gateway; write ${known}.`);
  }
}

/**
 * The body of a generation. The gateway takes lists and camel case only, so single objects are
 * wrapped for the caller; the model goes into the path.
 */
export function generateBody(params: GenerateContentParams, method: string): object {
  checkParams(method, params);
  checkSpelling(params);
  const { model, contents, systemInstruction, safetySettings, tools, ...rest } = params;
  checkModel(model);
  return {
    ...rest,
    contents: toContents(contents),
    systemInstruction:
      systemInstruction === undefined ? undefined : toInstruction(systemInstruction),
    safetySettings: safetySettings === undefined ? undefined : toList(safetySettings),
    tools: tools === undefined ? undefined : toList(tools),
  };
}
