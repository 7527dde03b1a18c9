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

/** How long after a whole answer its charge is written down at the latest. */
const writingTime = 60_000;

/** When the books have all lines of a call at the latest, in milliseconds since 1970. */
export function writtenBy({ attempts, end }: CallRecord): number {
  const isAnswered = attempts.every(({ phase }) => phase === 'connect' || phase === 'headers');
  const isOver = end?.outcome === undefined ? end?.isWhole : end.outcome !== 'unknown';
  // A charge may be written down long after the client has gone.
  return end && isOver && isAnswered ? end.at + writingTime : Infinity;
}

/** Whether a line of the books may be a call's though it holds no id that is known. */
export function isOpen(call: CallRecord): boolean {
  const { attempts, answer } = call;
  if (isPending(call) || (answer && !isGatewayId(answer.requestId))) return true;
  return attempts.some(({ phase, requestId }) => phase !== 'connect' && !isGatewayId(requestId));
}
