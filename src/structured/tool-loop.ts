import { delay, untilAborted } from '../http/abort.ts';
import { runAborted } from '../streams/errors.ts';

/** A tool that can be called. */
export interface CallableTool {
  /** Parses and checks arguments. Without it, the function gets them as text. */
  readonly parse?: ((text: string) => unknown) | undefined;
  readonly call: (args: unknown) => unknown;
}

/** What a call has come to. */
interface ToolResult {
  /** What the tool gave. */
  readonly value?: unknown;
  /** The same as text for the model. */
  readonly text: string;
  /** Why the tool could not be called, or failed; `text` then says so. */
  readonly error?: Error;
}

/** How one kind of conversation asks a model and answers its calls. */
export interface ToolDialect<Answer, Call> {
  /** By name. */
  readonly tools: ReadonlyMap<string, CallableTool>;
  /** How often the model is asked at most. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Where the caller finds what came before an abort, for its error. */
  readonly whatRemains?: string;
  /** Whether a call waits for the end of the one before it. */
  readonly isSequential?: boolean;
  /** Asks the model with the conversation so far. */
  ask(): Promise<Answer>;
  callsIn(answer: Answer): readonly Call[];
  /** The name of the tool, and its arguments as text. */
  read(call: Call): readonly [name: string, text: string];
  /** Adds results to the conversation, and says whether the run is over with them. */
  add(results: readonly (readonly [call: Call, result: ToolResult])[]): boolean;
  /** Called after each answer and its tools, and waited for. */
  afterEach?(answer: Answer): unknown;
}

/**
 * Asks a model and calls the tools that it calls, until an answer calls none.
 *
 * @returns The last answer.
 */
export async function runToolLoop<Answer, Call>(
  dialect: ToolDialect<Answer, Call>,
): Promise<Answer> {
  const { signal, whatRemains } = dialect;
  const checkAborted = (): void => {
    if (signal.aborted) throw runAborted(signal, whatRemains);
  };
  for (let left = dialect.limit; ; left -= 1) {
    const answer = await dialect.ask();
    const calls = dialect.callsIn(answer);
    let isOver = calls.length === 0;
    for (const group of dialect.isSequential ? calls.map((call) => [call]) : [calls]) {
      if (isOver) break;
      isOver = dialect.add(await callAll(dialect, group));
      checkAborted();
    }
    await dialect.afterEach?.(answer);
    checkAborted();
    if (isOver || left <= 1) return answer;
  }
}

/** Calls tools side by side. When the run is aborted, those that are not done have no result. */
async function callAll<Call>(
  dialect: ToolDialect<unknown, Call>,
  calls: readonly Call[],
): Promise<[Call, ToolResult][]> {
  const results = new Map<Call, ToolResult>();
  const running = calls.map(async (call) => {
    results.set(call, await callTool(dialect.tools, ...dialect.read(call)));
  });
  // A tool that ends the run is given the time to return.
  await untilAborted(Promise.all(running), dialect.signal).catch(() => delay(0));
  return calls.flatMap((call): [Call, ToolResult][] => {
    const result = results.get(call);
    return result === undefined ? [] : [[call, result]];
  });
}

/** Never rejects: what goes wrong is told to the model, which can correct itself. */
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
    problem = 'The arguments do not fit; correct them and call again: ';
    const args = tool.parse ? await tool.parse(text) : text;
    problem = 'The tool failed: ';
    const value = await tool.call(args);
    return { value, text: typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null') };
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    return { text: `${problem}${error.message}`, error };
  }
}
