import type { CallToolResult, InputRequiredResult, ServerContext } from '#mcp-sdk';
import { systemErrorCode } from '../../../adapters/node/durable.ts';
import { errorMessage } from '../../../answers/objects.ts';
import { GatewayError } from '../../../index.ts';
import { toAgentMessage } from '../jobs/messages.ts';
import { ToolError } from './errors.ts';
import { toErrorResult } from './results.ts';

/** The result of a tool, or a question to the client. */
export type Answer = CallToolResult | InputRequiredResult;

/** Returns the progress notifier of a request; `undefined` if the client did not ask for progress. */
export function progressNotifier({ mcpReq }: ServerContext) {
  // eslint-disable-next-line no-underscore-dangle -- the name of the field in the protocol
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (message: string, seconds: number): Promise<void> =>
    mcpReq
      .notify({
        method: 'notifications/progress',
        params: { progressToken, progress: seconds, message },
      })
      .catch(() => {
        // The client is gone; the job continues.
      });
}

/** Returns the result of a tool; errors that an agent can act on become results. */
export async function answer(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError) return toErrorResult(error);
    if (GatewayError.isInstance(error)) return toErrorResult(new ToolError(toAgentMessage(error)));
    if (systemErrorCode(error) !== '') {
      const problem = `The records of the calls cannot be used now: ${errorMessage(error)}.`;
      const advice = 'Call again with the same arguments, which is not charged twice.';
      return toErrorResult(new ToolError(`${problem} ${advice}`));
    }
    throw error;
  }
}
