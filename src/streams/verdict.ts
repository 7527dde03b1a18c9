import type { StreamVerdict } from './errors.ts';

/*
 * When a stream is complete: the states of a stream that is read, and the verdict at its end. It reads no bytes and
 * throws no errors. `docs/wire.md` explains the table.
 */

/** What has arrived of a stream, as far as its end depends on it. */
export type StreamState =
  | 'open'
  | 'closed'
  | 'hollow'
  | 'hollow_closed'
  | 'whole'
  | 'done'
  | 'failed'
  | 'thrown';

/**
 * What changes the state.
 *
 * - `terminator`: `[DONE]`, or the last event of a stream that has none
 * - `hollow`: a chunk in which all is empty, which a gateway made of an error of the provider
 * - `whole`: a complete response in place of events
 * - `error`: an error, whose usage may follow
 * - `settled`: the usage of the error has arrived, or no longer follows
 */
export type StreamSign = 'terminator' | 'hollow' | 'whole' | 'error' | 'settled';

export const transitions: Readonly<
  Record<StreamState, Readonly<Partial<Record<StreamSign, StreamState>>>>
> = {
  open: { terminator: 'closed', hollow: 'hollow', whole: 'whole', error: 'failed' },
  closed: { hollow: 'hollow_closed', whole: 'done', error: 'failed' },
  hollow: { terminator: 'hollow_closed', whole: 'whole', error: 'failed' },
  hollow_closed: { whole: 'done', error: 'failed' },
  whole: { terminator: 'done', error: 'failed' },
  done: {},
  failed: { terminator: 'thrown', settled: 'thrown' },
  thrown: {},
};

export function nextState(state: StreamState, sign: StreamSign): StreamState {
  return transitions[state][sign] ?? state;
}

/** What the items of a stream prove; see `StreamProgress`. */
interface Proof {
  readonly started: boolean;
  isFinished(terminated: boolean): boolean;
}

/** Returns whether the response is provably complete. A terminator proves nothing beside a hollow chunk. */
export function isFinished(state: StreamState, proof: Proof): boolean {
  return state === 'whole' || state === 'done' || proof.isFinished(state === 'closed');
}

/** Returns whether an error has arrived without its message. */
export function hasLostError(state: StreamState): boolean {
  return state === 'hollow' || state === 'hollow_closed';
}

/** Returns whether the connection should end now. */
export function isEnding(state: StreamState): boolean {
  return state !== 'open' && state !== 'hollow' && state !== 'whole';
}

/** Returns whether the response is complete and nothing can follow. */
export function isOver(state: StreamState, proof: Proof): boolean {
  return isEnding(state) && state !== 'failed' && isFinished(state, proof);
}

/** How the last event of a stream arrived: whole, cut, or cut within content of the response. */
export type LastEvent = 'whole' | 'cut' | 'torn';

/**
 * Returns the verdict of a stream that has ended.
 *
 * @param isBroken - `true` if the body did not end cleanly.
 * @param endIsProof - `true` if a clean end proves that the response is complete.
 */
export function judge(
  state: StreamState,
  proof: Proof,
  last: LastEvent,
  isBroken: boolean,
  endIsProof = false,
): StreamVerdict {
  if (last !== 'torn' && isFinished(state, proof)) return 'complete';
  if (isBroken || last !== 'whole') return 'truncated';
  if (endIsProof) return 'complete';
  if (!proof.started) return 'truncated';
  // A terminator alone proves nothing, because gateways also write it after time-outs.
  return isEnding(state) ? 'no_finish_reason' : 'no_terminator';
}
