import type { CallRecord } from '../observing/calls.ts';

/**
 * Whether an id is one under which gateways of this family keep books: it begins with the time. A proxy in
 * front of one has ids of its own.
 */
export function isGatewayId(id: string | undefined): boolean {
  return /^20\d{12}/.test(id ?? '');
}

/** The ids of the requests of a call that were answered. */
export function requestIdsOf({ attempts, answer }: CallRecord): readonly string[] {
  return [...attempts, ...(answer ? [answer] : [])].flatMap(({ requestId }) => requestId ?? []);
}

/** Whether a request is under way of which nothing is known yet. */
export const isPending = ({ answer, end }: CallRecord): boolean => !answer && !end;

/** Whether a line of the books may be a call's though it holds no id that is known. */
export function isOpen(call: CallRecord): boolean {
  const { attempts, answer } = call;
  if (isPending(call) || (answer && !isGatewayId(answer.requestId))) return true;
  return attempts.some(({ phase, requestId }) => phase !== 'connect' && !isGatewayId(requestId));
}
