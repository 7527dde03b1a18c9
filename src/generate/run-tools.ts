import type { AutoParseableTool, ToolRun } from '../structured/types.ts';
import type { RequestOptions } from '../options.ts';
import { addCounts } from '../answers/objects.ts';
import { toGoogleSchema } from '../structured/dialects.ts';
import { followSignal } from '../http/abort.ts';
import type {
  Content,
  FunctionCall,
  Part,
  GenerateContentResponse,
  UsageMetadata,
} from './types.ts';
import type { FunctionDeclaration, GenerateContentParams } from './params.ts';
import { type CallableTool, runToolLoop } from '../structured/tool-loop.ts';
import { check, checkInteger, checkList, checkParams } from '../check.ts';
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
  const { functions, toolContext, tools = [], ...rest } = params;
  const { maxCalls = 10, onContent, ...request } = options ?? {};
  checkList('functions', functions, 'what tool() makes');
  checkInteger('maxCalls', maxCalls, 1, 1_000_000);
  const { candidateCount = 1 } = rest.generationConfig ?? {};
  const problem = 'must be 1: a run follows one conversation.';
  check(candidateCount === 1, 'generationConfig.candidateCount', problem);
  const controller = new AbortController();
  const { signal } = controller;
  const run: ToolRun = { controller, abort: () => controller.abort() };
  const callable = functions.map((tool): [string, CallableTool] => {
    const isRunnable = typeof tool?.$callback === 'function';
    check(isRunnable, 'functions', 'must be made by tool(), with an execute function.');
    const call = (args: unknown): unknown => tool.$callback?.(args, run, toolContext);
    return [tool.function.name, { parse: (text) => tool.$parseRaw(text), call }];
  });
  const declared = [...toList(tools), { functionDeclarations: functions.map(declarationOf) }];
  const contents = [...toContents(rest.contents)];
  const responses: GenerateContentResponse[] = [];
  const add = (content: Content): void => {
    contents.push(content);
    onContent?.(content);
  };
  const release = followSignal(options?.signal, controller);
  try {
    const response = await runToolLoop<GenerateContentResponse, FunctionCall>({
      tools: new Map(callable),
      limit: maxCalls,
      signal,
      whatRemains: 'onContent was given every turn.',
      async ask() {
        const asked = { ...rest, contents: [...contents], tools: declared };
        const answer = await ask(asked, { ...request, signal });
        responses.push(answer);
        // Sent back as it came: signatures of thoughts must stay on their parts.
        const content = answer.candidates?.[0]?.content;
        if (content !== undefined) add({ ...content, role: content.role ?? 'model' });
        return answer;
      },
      callsIn: ({ functionCalls = [] }) => functionCalls,
      read: ({ name = '', args = {} }) => [name, JSON.stringify(args)],
      add(results) {
        const parts = results.map(([{ id, name }, { error, text, value = null }]): Part => {
          const answer = error === undefined ? { output: value } : { error: text };
          return { functionResponse: { ...(id ? { id } : {}), name, response: answer } };
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
