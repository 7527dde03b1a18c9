import { type GatewayPromise, readChange } from '../../calls/promise.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { changeOptions, optionsFor } from '../../options/resolve.ts';
import { collectAs, eventFormat } from '../../streams/open-stream.ts';
import type { Stream } from '../../streams/stream.ts';
import { generateProtocol } from './accumulator.ts';
import { FunctionCallFinishReasonError } from './errors.ts';
import type {
  GenerateContentParams,
  ContentInput,
  ContentsInput,
  SystemInstructionInput,
  FunctionDeclaration,
} from './params.ts';
import { wholeGenerationSchema } from './schema.ts';
import type {
  GenerateContentResponse,
  Content,
  Part,
  FunctionCall,
  UsageMetadata,
} from './types.ts';
import { check, checkList, checkModel } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import type { AutoParseableTool, ToolRun } from '../../structured/types.ts';
import { isObject } from '../../answers/objects.ts';
import { addCounts } from '../../answers/usage.ts';
import { peek } from '../../options/snapshot.ts';
import { toGoogleSchema } from '../../structured/schema-subsets.ts';
import { abortOwn, followSignal } from '../../http/abort.ts';
import {
  checkSingle,
  findOutput,
  type OutputDialect,
  toolsByName,
  Turns,
} from '../../structured/dialect.ts';
import { type CallableTool, runToolLoop } from '../../structured/tool-loop.ts';

const wholeFormat = jsonFormat({
  schema: wholeGenerationSchema,
  fromEvents: collectAs(generateProtocol),
});

const streamedFormat = eventFormat(generateProtocol);

const json = 'application/json';

/** Returns how both operations write their requests and ask for JSON. */
const partsFor = (method: string, params: GenerateContentParams) => ({
  write: (changed: GenerateContentParams) => ({
    json: createBody(changed, method),
    params: { model: changed.model },
  }),
  output: findOutput(generateOutput, params),
});

export function generateContent(
  transport: Transport,
  params: GenerateContentParams,
  options: RequestOptions | undefined,
): GatewayPromise<GenerateContentResponse> {
  const operation = 'generate.content';
  const parts = { ...partsFor(operation, params), format: () => wholeFormat };
  return transport.operate(operation, params, { kind: 'json', ...parts }, options);
}

export function streamContent(
  transport: Transport,
  params: GenerateContentParams,
  options: RequestOptions | undefined,
): GatewayPromise<Stream<GenerateContentResponse>> {
  const operation = 'generate.contentStream';
  const parts = { ...partsFor(operation, params), format: () => streamedFormat };
  return transport.operate(operation, params, { kind: 'events', ...parts }, options);
}

/** How `generate` asks for JSON. */
const generateOutput: OutputDialect<
  Pick<GenerateContentParams, 'generationConfig'>,
  GenerateContentParams
> = {
  name: 'generate',
  findSchema(params) {
    const config = peek(params, 'generationConfig') ?? {};
    const { responseJsonSchema, responseSchema, responseMimeType = json } = config;
    const schema = responseJsonSchema ?? responseSchema;
    // Values of an enum, for example, are not JSON.
    return isObject(schema) && responseMimeType === json ? schema : undefined;
  },
  allowsJSONMode: () => true,
  withInstruction(params, text, isJSONMode) {
    const { parts = [], ...turn } = toInstruction(params.systemInstruction ?? []);
    return {
      ...params,
      generationConfig: {
        ...params.generationConfig,
        responseSchema: undefined,
        responseJsonSchema: undefined,
        responseMimeType: isJSONMode ? json : undefined,
      },
      systemInstruction: { ...turn, parts: [...parts, { text }] },
    };
  },
};

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Wraps a value in a list unless it is one. */
function toList<Item>(value: Item | readonly Item[]): readonly Item[] {
  return isList(value) ? value : [value];
}

function toTurn({ parts, ...turn }: ContentInput): Content {
  return isNil(parts) ? turn : { ...turn, parts: [...toList(parts)] };
}

function isTurn(value: string | Part | ContentInput): value is ContentInput {
  return typeof value === 'object' && ('parts' in value || 'role' in value);
}

function isNil(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Converts contents to turns, the only format that the gateway accepts. Consecutive texts and parts are one
 * turn of the user.
 */
function toContents(contents: ContentsInput): readonly Content[] {
  const list = toList(contents);
  check(
    list.length > 0 && !list.some((content) => isNil(content) || content === ''),
    'contents',
    'is empty; pass text, or a list of turns such as { role: "user", parts: [{ text: "Hello" }] }.',
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

/** Corrections for field names that the gateway silently drops: snake case, and names of `@google/genai`. */
const correctNames: Readonly<Record<string, string>> = {
  config: 'its fields beside contents, and those of the model in generationConfig',
  generation_config: 'generationConfig',
  system_instruction: 'systemInstruction',
  safety_settings: 'safetySettings',
  tool_config: 'toolConfig',
  cached_content: 'cachedContent',
};

function checkSpelling(params: object): void {
  for (const name of Object.keys(params)) {
    const correct = isNil(Reflect.get(params, name)) ? undefined : correctNames[name];
    check(correct === undefined, name, `is not recognized by the gateway; use ${correct}.`);
  }
}

/**
 * Creates the request body. Single objects are wrapped in lists, because the gateway accepts only lists and
 * camel case; the model is part of the path.
 */
function createBody(params: GenerateContentParams, method: string): object {
  checkParams(method, params);
  checkSpelling(params);
  const { model, contents, systemInstruction, safetySettings, tools, ...rest } = params;
  checkModel(model);
  const body = {
    ...rest,
    contents: toContents(contents),
    systemInstruction: isNil(systemInstruction) ? null : toInstruction(systemInstruction),
    safetySettings: isNil(safetySettings) ? null : toList(safetySettings),
    tools: isNil(tools) ? null : toList(tools),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isNil(value)));
}

/** Parameters of `generate.runTools()`. */
export interface GenerateToolRunParams extends GenerateContentParams {
  /** Functions that the model may call, created by `tool()`. Other `tools` are sent with them. */
  functions: readonly AutoParseableTool<unknown>[];
  /** Passed to every function. Never sent. */
  toolContext?: unknown;
}

/** Options of `generate.runTools()`. `maxRetries` and time limits apply to each request. */
export interface GenerateToolRunOptions extends RequestOptions {
  /**
   * Maximum number of requests to the model. Each is billed. If the last response calls functions, they still
   * run.
   * @defaultValue 10
   */
  maxCalls?: number | undefined;
  /**
   * Called with each turn that is added to the conversation: responses, and results of functions. Store them
   * to continue after a failure.
   */
  onContent?: ((content: Content) => void) | undefined;
}

/** Result of `generate.runTools()`. */
export interface GenerateToolRun {
  /** The last response. It calls functions only if `maxCalls` was reached. */
  readonly response: GenerateContentResponse;
  /** All responses. */
  readonly responses: readonly GenerateContentResponse[];
  /** The conversation: the contents of the request, and all added turns. */
  readonly contents: readonly Content[];
  /** Token usage of all responses. */
  readonly usage: UsageMetadata;
}

function toDeclaration({ function: definition }: AutoParseableTool<unknown>): FunctionDeclaration {
  const { name, description, parameters } = definition;
  const google = toGoogleSchema(parameters);
  return {
    name,
    ...(description ? { description } : {}),
    ...(google ? { parameters: google } : { parametersJsonSchema: parameters }),
  };
}

/** Finish reasons of a response whose function calls are invalid. */
const failedCall = /^(malformed_function_call|unexpected_tool_call)$/i;

/** @throws `FunctionCallFinishReasonError` if the last response ended with an invalid function call */
function checkFinishReason(
  responses: readonly GenerateContentResponse[],
  requestId: string | undefined,
): void {
  const { finishReason } = responses.at(-1)?.candidates?.[0] ?? {};
  if (!failedCall.test(finishReason ?? '')) return;
  const message = `The response ended with the finish reason "${finishReason}", so no function of it was called.`;
  throw new FunctionCallFinishReasonError(message, { responses, requestId });
}

/** Requests responses and runs the functions that they call, until a response calls no functions. */
export async function runTools(
  transport: Transport,
  params: GenerateToolRunParams,
  options: GenerateToolRunOptions | undefined,
): Promise<GenerateToolRun> {
  checkParams('generate.runTools', params);
  const checked = transport.checkOptions('generate.runTools', options, params);
  const { functions, toolContext, tools, ...rest } = params;
  const { maxCalls, onContent } = checked;
  checkList('functions', functions, 'created by tool()');
  checkSingle('generationConfig.candidateCount', rest.generationConfig?.candidateCount);
  const controller = new AbortController();
  const { signal } = controller;
  const turns = new Turns(
    transport,
    changeOptions(optionsFor(checked, 'generate.content'), { signal }),
  );
  const run: ToolRun = { controller, abort: () => abortOwn(controller) };
  const callable = functions.map((tool): CallableTool => {
    const isRunnable = typeof tool?.$callback === 'function';
    check(isRunnable, 'functions', 'must be created by tool(), with an execute function.');
    const call = (args: unknown): unknown => tool.$callback?.(args, run, toolContext);
    return { name: tool.function.name, parse: (text) => tool.$parseRaw(text), call };
  });
  const byName = toolsByName('functions', callable);
  const declared = [...toList(tools ?? []), { functionDeclarations: functions.map(toDeclaration) }];
  const contents = [...toContents(rest.contents)];
  const responses: GenerateContentResponse[] = [];
  const add = (content: Content): void => {
    contents.push(content);
    onContent?.(content);
  };
  const release = followSignal(options?.signal, controller);
  try {
    const response = await runToolLoop<GenerateContentResponse, FunctionCall>({
      tools: byName,
      limit: maxCalls,
      signal,
      whatRemains: 'onContent received every turn.',
      async request() {
        const next = { ...rest, ...turns.params, contents: [...contents], tools: declared };
        const call = generateContent(transport, next, turns.next());
        const { data: latest, request_id: requestId } = await call.withResponse();
        turns.follow(await readChange(call));
        responses.push(latest);
        checkFinishReason(responses, requestId ?? undefined);
        // Sent back unchanged, because signatures of thoughts must stay on their parts.
        const content = latest.candidates?.[0]?.content;
        if (content !== undefined) add({ ...content, role: content.role ?? 'model' });
        return latest;
      },
      callsIn: ({ functionCalls = [] }) => functionCalls,
      read: ({ name = '', args = {} }) => [name, JSON.stringify(args)],
      add(results) {
        const parts = results.map(([{ id, name }, { error, text, value = null }]): Part => {
          const result = error === undefined ? { output: value } : { error: text };
          return { functionResponse: { ...(id ? { id } : {}), name, response: result } };
        });
        if (parts.length > 0) add({ role: 'user', parts });
        return false;
      },
    });
    const usage = responses.map(({ usageMetadata }) => usageMetadata ?? {});
    return { response, responses, contents, usage: usage.reduce<UsageMetadata>(addCounts, {}) };
  } finally {
    release();
  }
}
