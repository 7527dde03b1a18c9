import { parseJSON, toError } from '../answers/objects.ts';
import { delay, untilAborted } from '../http/abort.ts';
import { toWellFormedJSON } from '../http/json.ts';
import { runAborted } from '../streams/errors.ts';

/** A tool that the model can call. */
export interface CallableTool {
  readonly name: string;
  /** Parses and validates the arguments. Without it, `call` receives them as text. */
  readonly parse?: ((text: string) => unknown) | undefined;
  readonly call: (args: unknown) => unknown;
}

interface ToolResult {
  readonly value?: unknown;
  /** The value as text for the model. */
  readonly text: string;
  /** Set if the tool could not be called or failed; `text` then contains the message. */
  readonly error?: Error;
}

/** The functions with which one API requests responses and receives tool results. */
export interface ToolDialect<Completion, Call> {
  readonly tools: ReadonlyMap<string, CallableTool>;
  /** Maximum number of requests to the model. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Hint for the abort error that names the place of the results so far. */
  readonly whatRemains?: string;
  /** Runs the calls of a response one after another instead of concurrently. */
  readonly isSequential?: boolean;
  /** Sends the conversation so far to the model. */
  request(): Promise<Completion>;
  callsIn(completion: Completion): readonly Call[];
  /** Returns the name of the tool, and its arguments as text. */
  read(call: Call): readonly [name: string, text: string];
  /** Returns whether the arguments of a call are cut off, so that it must not run. */
  isCut?(call: Call): boolean;
  /** Adds results to the conversation. Returns whether they end the run. */
  add(results: readonly (readonly [call: Call, result: ToolResult])[]): boolean;
  /** Called and awaited after each response and its tool calls. */
  afterEach?(completion: Completion): unknown;
}

/**
 * Requests responses and runs the tools that they call, until a response calls no tools.
 *
 * @returns The last response.
 */
export async function runToolLoop<Completion, Call>(
  dialect: ToolDialect<Completion, Call>,
): Promise<Completion> {
  const { signal, whatRemains } = dialect;
  const checkAborted = (): void => {
    if (signal.aborted) throw runAborted(signal, whatRemains);
  };
  for (let left = dialect.limit; ; left -= 1) {
    const completion = await dialect.request();
    const calls = dialect.callsIn(completion);
    let isOver = calls.length === 0;
    for (const group of dialect.isSequential ? calls.map((call) => [call]) : [calls]) {
      if (isOver) break;
      isOver = dialect.add(await callAll(dialect, group));
      checkAborted();
    }
    await dialect.afterEach?.(completion);
    checkAborted();
    if (isOver || left <= 1) return completion;
  }
}

/** Runs tools concurrently. If the run is aborted, unfinished tools have no result. */
async function callAll<Call>(
  dialect: ToolDialect<unknown, Call>,
  calls: readonly Call[],
): Promise<[Call, ToolResult][]> {
  const results = new Map<Call, ToolResult>();
  const running = calls.map(async (call) => {
    const isCut = dialect.isCut?.(call) === true;
    const [name, text] = dialect.read(call);
    results.set(call, isCut ? cutOff(text) : await callTool(dialect.tools, name, text));
  });
  // Let a tool that aborts the run return first.
  await untilAborted(Promise.all(running), dialect.signal).catch(() => delay(0));
  return calls.flatMap((call): [Call, ToolResult][] => {
    const result = results.get(call);
    return result === undefined ? [] : [[call, result]];
  });
}

function cutOff(text: string): ToolResult {
  const problem = `they were cut off, so they are not valid JSON. They were: ${text}`;
  const error = new Error(`${invalid}${problem}`);
  return { text: error.message, error };
}

const invalid = 'The arguments are invalid; correct them and call again: ';

/** Calls a tool. Never rejects: failures are reported to the model, which can correct its call. */
async function callTool(
  tools: ReadonlyMap<string, CallableTool>,
  name: string,
  text: string,
): Promise<ToolResult> {
  let problem = '';
  try {
    const tool = tools.get(name);
    if (tool === undefined) {
      const known = JSON.stringify([...tools.keys()]);
      throw new Error(`There is no tool ${JSON.stringify(name)}. The tools are: ${known}`);
    }
    problem = invalid;
    const args = tool.parse ? await tool.parse(text) : text;
    problem = 'The tool failed: ';
    const value = await tool.call(args);
    if (typeof value === 'string') return { value, text: value };
    return { value, text: toWellFormedJSON(JSON.stringify(value) ?? 'null') };
  } catch (cause) {
    const error = toError(cause);
    // The conversation has other arguments in place of those that are not JSON.
    const isJSON = problem !== invalid || parseJSON(text) !== undefined;
    return { text: `${problem}${error.message}${isJSON ? '' : `. They were: ${text}`}`, error };
  }
}
