import type { AttemptEvidence } from '../errors/gateway-error.ts';
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

/** The requests of calls whose error response was read to its end. */
export function answeredIdsOf(calls: readonly CallRecord[]): readonly string[] {
  return answeredIn(calls.flatMap(({ attempts }) => attempts));
}

/** The attempts whose error response was read to its end, by the ids of their requests. */
export function answeredIn(attempts: readonly AttemptEvidence[]): readonly string[] {
  return attempts.flatMap(({ isAnswered, requestId }) => (isAnswered && requestId) || []);
}

/** Whether a request of a call may be in the usage log under an id that the client does not know. */
export function hasUnnamedRequest({ attempts, answer, end }: CallRecord): boolean {
  if (answer ? !isGatewayId(answer.requestId) : !end) return true;
  return attempts.some(({ phase, requestId }) => phase !== 'connect' && !isGatewayId(requestId));
}
