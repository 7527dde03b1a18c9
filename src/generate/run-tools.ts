import type { AutoParseableTool, ToolRun } from '../structured/types.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { checkInteger, checkList, checkParams } from '../check.ts';
import type { RequestOptions } from '../options.ts';
import { runAborted } from '../streams/errors.ts';
import { addCounts } from '../streams/protocol.ts';
import { toGoogleSchema } from '../structured/google-schema.ts';
import { followSignal } from '../http/follow-signal.ts';
import type {
  Content,
  FunctionCall,
  Part,
  GenerateContentResponse,
  UsageMetadata,
} from './types.ts';
import type { FunctionDeclaration, GenerateContentParams } from './params.ts';
import { type CallableTool, callTools } from '../structured/call-tools.ts';
import { toContents, toList } from './body.ts';

/** Parameters of `generate.runTools()`. */
export interface GenerateToolRunParams extends GenerateContentParams {
  /** Functions that the model may call; `tool()` makes them. Other `tools` go along with them. */
  functions: readonly AutoParseableTool<unknown>[];
  /** Handed to every function. Never sent. */
  toolContext?: unknown;
}

/** Options of `generate.runTools()`. `maxRetries` and time limits hold for each request. */
export interface GenerateToolRunOptions extends RequestOptions {
  /**
   * How often the model may be asked at most; each time is paid for. When the last answer calls
   * functions, they still run.
   * @defaultValue 10
   */
  maxCalls?: number | undefined;
  /**
   * Called with each turn that is added to the conversation: answers, and results of functions. Keep
   * them to go on after a failure.
   */
  onContent?: ((content: Content) => void) | undefined;
}

/** What `generate.runTools()` has come to. */
export interface GenerateToolRun {
  /** The last answer. It calls functions only when `maxCalls` was reached. */
  readonly response: GenerateContentResponse;
  /** All answers. */
  readonly responses: readonly GenerateContentResponse[];
  /** The conversation: the contents of the request, and every turn that was added. */
  readonly contents: readonly Content[];
  /** The tokens of all answers. */
  readonly usage: UsageMetadata;
}

function declarationOf({ function: definition }: AutoParseableTool<unknown>): FunctionDeclaration {
  const { name, description, parameters } = definition;
  const google = toGoogleSchema(parameters);
  return {
    name,
    ...(description ? { description } : {}),
    ...(google ? { parameters: google } : { parametersJsonSchema: parameters }),
  };
}

function callablesOf(
  functions: GenerateToolRunParams['functions'],
  run: ToolRun,
  toolContext: unknown,
): ReadonlyMap<string, CallableTool> {
  const entries = functions.map((tool): [string, CallableTool] => {
    if (typeof tool?.$callback !== 'function') {
      throw new InvalidInputError('functions', 'must be made by tool(), with an execute function.');
    }
    const call = (args: unknown): unknown => tool.$callback?.(args, run, toolContext);
    return [tool.function.name, { parse: (text) => tool.$parseRaw(text), call }];
  });
  return new Map(entries);
}

/** Asks for answers and calls the functions that they call, until one of them calls none. */
export async function runTools(
  params: GenerateToolRunParams,
  options: GenerateToolRunOptions | undefined,
  ask: (
    params: GenerateContentParams,
    options: RequestOptions,
  ) => PromiseLike<GenerateContentResponse>,
): Promise<GenerateToolRun> {
  checkParams('generate.runTools', params);
  const { functions, toolContext, tools, ...rest } = params;
  const { maxCalls = 10, onContent, ...request } = options ?? {};
  checkList('functions', functions, 'what tool() makes');
  checkInteger('maxCalls', maxCalls, 1, 1_000_000);
  if ((rest.generationConfig?.candidateCount ?? 1) !== 1) {
    const problem = 'must be 1: a run follows one conversation.';
    throw new InvalidInputError('generationConfig.candidateCount', problem);
  }
  const controller = new AbortController();
  const { signal } = controller;
  const callable = callablesOf(
    functions,
    { controller, abort: () => controller.abort() },
    toolContext,
  );
  const declared = [
    ...(tools === undefined ? [] : toList(tools)),
    { functionDeclarations: functions.map(declarationOf) },
  ];
  const contents = [...toContents(rest.contents)];
  const responses: GenerateContentResponse[] = [];
  const add = (content: Content): void => {
    contents.push(content);
    onContent?.(content);
  };

  const answer = async (calls: readonly FunctionCall[]): Promise<void> => {
    const wanted = calls.map(({ name = '', args = {} }) => ({ name, text: JSON.stringify(args) }));
    const results = await callTools(callable, wanted, signal);
    const parts = calls.flatMap(({ id, name }, index): Part[] => {
      const result = results[index];
      if (result === undefined) return [];
      const { error, text, value = null } = result;
      const response = error === undefined ? { output: value } : { error: text };
      return [{ functionResponse: { ...(id ? { id } : {}), name, response } }];
    });
    if (parts.length > 0) add({ role: 'user', parts });
  };

  const release = followSignal(options?.signal, controller);
  try {
    for (let left = maxCalls; ; left -= 1) {
      const asked = { ...rest, contents: [...contents], tools: declared };
      const response = await ask(asked, { ...request, signal });
      responses.push(response);
      // Sent back as it came: signatures of thoughts must stay on their parts.
      const content = response.candidates?.[0]?.content;
      if (content !== undefined) add({ ...content, role: content.role ?? 'model' });
      const calls = response.functionCalls ?? [];
      await answer(calls);
      if (signal.aborted) throw runAborted(signal, 'onContent was given every turn.');
      if (calls.length === 0 || left <= 1) {
        const usage = responses.map(({ usageMetadata }) => usageMetadata ?? {});
        return { response, responses, contents, usage: usage.reduce<UsageMetadata>(addCounts, {}) };
      }
    }
  } finally {
    release();
  }
}
