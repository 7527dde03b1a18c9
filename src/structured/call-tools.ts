import { untilAborted } from '../http/until-aborted.ts';
import { delay } from '../http/delay.ts';

/** A tool that can be called. */
export interface CallableTool {
  /** Parses and checks arguments. Without it, the function gets them as text. */
  readonly parse?: ((text: string) => unknown) | undefined;
  readonly call: (args: unknown) => unknown;
}

/** What a call has come to. */
export interface ToolResult {
  /** What the tool gave. */
  readonly value?: unknown;
  /** The same as text for the model. */
  readonly text: string;
  /** Why the tool could not be called, or failed; `text` then says so. */
  readonly error?: Error;
}

function failed(problem: string, cause: unknown): ToolResult {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  return { text: `${problem}${error.message}`, error };
}

/**
 * Calls the tool that the model asks for. Never rejects: what goes wrong is told to the model, which
 * can correct itself.
 */
async function callTool(
  tools: ReadonlyMap<string, CallableTool>,
  name: string,
  text: string,
): Promise<ToolResult> {
  const tool = tools.get(name);
  if (tool === undefined) {
    const known = JSON.stringify([...tools.keys()]);
    return failed('', `There is no tool ${JSON.stringify(name)}. The tools are: ${known}`);
  }
  let args: unknown = text;
  try {
    if (tool.parse) args = await tool.parse(text);
  } catch (cause) {
    return failed('The arguments do not fit; correct them and call again: ', cause);
  }
  try {
    const value = await tool.call(args);
    return { value, text: typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null') };
  } catch (cause) {
    return failed('The tool failed: ', cause);
  }
}

/** A call that the model wants. */
export interface WantedCall {
  readonly name: string;
  /** The arguments as JSON text. */
  readonly text: string;
}

/** Calls tools side by side. When the run is aborted, those that are not done have no result. */
export async function callTools(
  tools: ReadonlyMap<string, CallableTool>,
  calls: readonly WantedCall[],
  signal: AbortSignal,
): Promise<readonly (ToolResult | undefined)[]> {
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  const running = calls.map(async ({ name, text }, index) => {
    results[index] = await callTool(tools, name, text);
  });
  // A tool that ends the run is given the time to return.
  await untilAborted(Promise.all(running), signal).catch(() => delay(0));
  return results;
}
