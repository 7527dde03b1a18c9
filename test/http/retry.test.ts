import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChargeClass, Phase } from '../../src/index.ts';
import { decideRetry, failures, getOutcome, type RetryState } from '../../src/http/retry.ts';
import { kinds as table } from '../failures.ts';

const kinds = table.map(({ kind }) => kind);
const charges: readonly ChargeClass[] = ['free', 'metered', 'charged'];

function retryState(state: Partial<RetryState>): RetryState {
  return {
    charge: 'charged',
    retryUnknownOutcome: undefined,
    maxRetries: 2,
    retries: 0,
    canRefresh: true,
    replayable: true,
    ...state,
  };
}

const anyKind = fc.constantFrom(...kinds);
const anyPhase = fc.constantFrom<Phase>('local', 'connect', 'sent', 'headers', 'body');
const anyState = fc.record({
  charge: fc.constantFrom(...charges),
  retryUnknownOutcome: fc.constantFrom(undefined, true, false),
  idempotent: fc.boolean(),
  maxRetries: fc.nat(4),
  retries: fc.nat(4),
  canRefresh: fc.boolean(),
  replayable: fc.boolean(),
});

describe('failures', () => {
  test('never retries a charged call with an unknown outcome', () => {
    const unsafe = kinds.filter((kind) => {
      const { outcome, rules: row } = failures[kind];
      return outcome === 'unknown' && row.charged !== 'throw';
    });

    expect(unsafe).toEqual([]);
  });
});

describe('decideRetry()', () => {
  test('a charged call with an unknown outcome is retried only if the caller allows it', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const action = decideRetry({ kind, phase }, { ...state, charge: 'charged' });
        const isAllowed = state.retryUnknownOutcome === true || state.idempotent;
        return getOutcome({ kind, phase }) !== 'unknown' || action === 'throw' || isAllowed;
      }),
    );
  });

  test('retryUnknownOutcome: false applies the rule of charged calls to metered ones', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const strict = decideRetry(
          { kind, phase },
          { ...state, charge: 'metered', retryUnknownOutcome: false },
        );
        const charged = decideRetry(
          { kind, phase },
          { ...state, charge: 'charged', retryUnknownOutcome: undefined },
        );
        return strict === charged;
      }),
    );
  });

  test('a metered call after a client timeout is retried only if the caller allows it', () => {
    fc.assert(
      fc.property(anyPhase, anyState, (phase, state) => {
        const action = decideRetry({ kind: 'timed_out', phase }, { ...state, charge: 'metered' });
        return action === 'throw' || state.retryUnknownOutcome === true || state.idempotent;
      }),
    );
  });

  test('a local failure has outcome not_sent, and is not retried', () => {
    fc.assert(
      fc.property(anyKind, anyState, (kind, state) => {
        const failure = { kind, phase: 'local' } as const;
        return getOutcome(failure) === 'not_sent' && decideRetry(failure, state) === 'throw';
      }),
    );
  });

  test('a body that can be read only once is never sent again', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        return decideRetry({ kind, phase }, { ...state, replayable: false }) === 'throw';
      }),
    );
  });

  test('a rejected request is never retried', () => {
    fc.assert(
      fc.property(anyPhase, anyState, (phase, state) => {
        return decideRetry({ kind: 'refused', phase }, state) === 'throw';
      }),
    );
  });

  test('only reads are retried once the response has begun', () => {
    fc.assert(
      fc.property(anyKind, anyState, (kind, state) => {
        const action = decideRetry({ kind, phase: 'body' }, state);
        return action === 'throw' || state.charge === 'free' || state.idempotent;
      }),
    );
  });

  test('never exceeds maxRetries, and refreshes a key once', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const action = decideRetry({ kind, phase }, state);
        if (action === 'retry') return state.retries < state.maxRetries;
        return action !== 'refresh' || state.canRefresh;
      }),
    );
  });

  test('a 401 leads to a new key even if maxRetries is 0', () => {
    const failure = { kind: 'unauthorized', phase: 'headers' } as const;

    expect(decideRetry(failure, retryState({ maxRetries: 0 }))).toBe('refresh');
    expect(decideRetry(failure, retryState({ canRefresh: false }))).toBe('throw');
  });
});
