import { APIUserAbortError } from '../errors/connection-error.ts';
import { untilAborted } from '../http/until-aborted.ts';
import { callTool, type CallableTool, type ToolResult } from '../structured/call-tool.ts';
import { delay } from '../time/delay.ts';

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

/** Refuses to go on with a run that was aborted. */
export function throwIfAborted(signal: AbortSignal, whatRemains: string): void {
  if (!signal.aborted) return;
  throw new APIUserAbortError('The run was aborted.', {
    outcome: 'unknown',
    advice: `What came before was paid for; ${whatRemains}`,
    cause: signal.reason,
  });
}
