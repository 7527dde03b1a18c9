/** A tool cannot do what it was called for. Nothing was sent that is charged. The message is for the agent. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
