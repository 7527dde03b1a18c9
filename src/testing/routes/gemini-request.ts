import type { JsonObject } from '../../types.ts';
import { type Question, checkWords } from './prompts.ts';
import { decodeBase64 } from '../../answers/bytes.ts';
import { readFields, invalid, checkModelName, type Call } from '../server/call.ts';
import type { Tool } from './chat-request.ts';
import { describePicture } from '../media/image-size.ts';
import { isObject } from '../../answers/objects.ts';
import { list, number, record, text } from '../control/json.ts';
import { checkOutputFormat, findPromptSchema } from '../faults/structured-output.ts';
import { countTokens } from './usage.ts';

/** A validated generateContent request. */
export interface GenerateRequest {
  readonly question: Question;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly candidateCount: number;
  readonly tools: readonly Tool[];
  readonly schema: unknown;
  readonly wantsJson: boolean;
  /** `true` if only the prompt asks for JSON. */
  readonly isPrompted: boolean;
  readonly wantsImage: boolean;
  readonly includeThoughts: boolean;
}

function readContents(call: Call, contents: readonly unknown[] | undefined): JsonObject[] {
  if (contents === undefined || contents.length === 0) throw invalid(call, 'contents is required');
  return contents.map((content, index) => {
    if (!isObject(content) || !Array.isArray(content['parts'])) {
      throw invalid(call, `invalid type for field "contents[${index}].parts": expected array`);
    }
    return content;
  });
}

const parts = (content: JsonObject | undefined): JsonObject[] =>
  list(content?.['parts']).map((part) => record(part));

const partsText = (content: JsonObject | undefined): string =>
  parts(content)
    .map((part) => text(part['text']) ?? '')
    .join('');

function describeParts(content: JsonObject | undefined): string[] {
  return parts(content).flatMap((part) => {
    const inline = record(part['inlineData'] ?? part['inline_data']);
    const type = text(inline['mimeType'] ?? inline['mime_type']);
    if (type?.startsWith('image/') === true) {
      return [describePicture(decodeBase64(text(inline['data']) ?? ''))];
    }
    if (type !== undefined) return [`a file of type ${type}`];
    return isObject(part['fileData']) ? ['a file'] : [];
  });
}

const hasResult = (content: JsonObject): boolean =>
  parts(content).some((part) => isObject(part['functionResponse']));

function readQuestion(model: string, contents: readonly JsonObject[]): Question {
  const last = contents.findLastIndex(
    (content) => content['role'] !== 'model' && !hasResult(content),
  );
  const results = contents.slice(last + 1).flatMap((content) => parts(content));
  return {
    model,
    prompt: partsText(contents[last]),
    media: describeParts(contents[last]),
    toolResults: results.flatMap((part) => {
      const result = part['functionResponse'];
      if (!isObject(result)) return [];
      const name = text(result['name']) ?? 'The tool';
      return [{ name, result: JSON.stringify(result['response'] ?? null) }];
    }),
  };
}

function readTools(tools: unknown, config: JsonObject): Tool[] {
  const mode = record(config['functionCallingConfig'])['mode'];
  if (mode === 'NONE') return [];
  const groups = Array.isArray(tools) ? tools : [tools];
  return groups
    .flatMap((group) => list(record(group)['functionDeclarations']).map((tool) => record(tool)))
    .flatMap((tool) => {
      const name = text(tool['name']);
      const parameters = tool['parametersJsonSchema'] ?? tool['parameters'];
      return name === undefined ? [] : [{ name, parameters }];
    });
}

/** Reads and validates a generateContent request. Like the gateway, drops top-level keys in snake case. */
export function readGenerate(call: Call): GenerateRequest {
  const fields = readFields(call);
  const model = checkModelName(call, call.parameters['model']);
  const contents = readContents(call, fields.list('contents'));
  fields.list('safetySettings');
  const system = fields.object('systemInstruction') ?? fields.object('system_instruction');
  const config = fields.object('generationConfig') ?? {};
  const setting = (name: string): unknown =>
    config[name] ?? config[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
  const question = readQuestion(model, contents);
  checkWords(question.prompt);
  const spoken = [...contents, system].map((content) => countTokens(partsText(content)));
  const wanted = setting('responseJsonSchema') ?? setting('responseSchema');
  const isJson = wanted !== undefined || setting('responseMimeType') === 'application/json';
  if (isJson) checkOutputFormat(call, model, wanted === undefined ? 'json_object' : 'json_schema');
  const schema = wanted ?? findPromptSchema(partsText(system)) ?? findPromptSchema(question.prompt);
  return {
    question,
    promptTokens: spoken.reduce((sum, count) => sum + count, 0) + 258 * question.media.length,
    maxTokens: number(setting('maxOutputTokens')) ?? Infinity,
    candidateCount: number(setting('candidateCount')) ?? 1,
    tools: readTools(fields.raw('tools'), fields.object('toolConfig') ?? {}),
    schema,
    wantsJson: isJson || schema !== undefined,
    isPrompted: !isJson && schema !== undefined,
    wantsImage: list(setting('responseModalities')).some(
      (modality) => String(modality).toUpperCase() === 'IMAGE',
    ),
    includeThoughts: record(setting('thinkingConfig'))['includeThoughts'] === true,
  };
}
