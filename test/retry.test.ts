import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChargeClass } from '../src/endpoints.ts';
import type { Phase } from '../src/errors/gateway-error.ts';
import { outcomeOf, type FailureKind } from '../src/http/failure.ts';
import { decide, retryTable, type RetryState, type Rule } from '../src/http/retry.ts';

const rows: readonly [FailureKind, Rule, Rule, Rule][] = [
  ['invalid_input', 'throw', 'throw', 'throw'],
  ['aborted_before_send', 'throw', 'throw', 'throw'],
  ['timed_out_before_send', 'throw', 'throw', 'throw'],
  ['cannot_connect', 'retry', 'retry', 'retry'],
  ['host_not_found', 'once', 'once', 'once'],
  ['tls_failed', 'throw', 'throw', 'throw'],
  ['refused_stream', 'retry', 'retry', 'retry'],
  ['connection_lost', 'retry', 'retry', 'throw'],
  ['timed_out', 'retry', 'retry', 'throw'],
  ['aborted', 'throw', 'throw', 'throw'],
  ['redirected', 'throw', 'throw', 'throw'],
  ['redirected_after_work', 'throw', 'throw', 'throw'],
  ['refused', 'throw', 'throw', 'throw'],
  ['unauthorized', 'refresh', 'refresh', 'refresh'],
  ['request_timeout', 'retry', 'retry', 'throw'],
  ['too_early', 'retry', 'retry', 'once'],
  ['rate_limited', 'retry', 'retry', 'retry'],
  ['bare_rate_limited', 'retry', 'retry', 'once'],
  ['task_refused', 'retry', 'throw', 'throw'],
  ['cannot_heal', 'throw', 'throw', 'throw'],
  ['server_error', 'retry', 'retry', 'throw'],
  ['not_implemented', 'throw', 'throw', 'throw'],
  ['bad_gateway', 'retry', 'retry', 'throw'],
  ['unavailable', 'retry', 'retry', 'throw'],
  ['unusable_answer', 'retry', 'throw', 'throw'],
  ['error_in_success', 'throw', 'throw', 'throw'],
  ['error_with_id', 'throw', 'throw', 'throw'],
];

const kinds = rows.map(([kind]) => kind);
const charges: readonly ChargeClass[] = ['free', 'metered', 'charged'];

function stateOf(state: Partial<RetryState>): RetryState {
  return {
    charge: 'charged',
    retryUnknownOutcome: undefined,
    maxRetries: 2,
    retries: 0,
    refreshed: false,
    canRefresh: true,
    replayable: true,
    ...state,
  };
}

const anyKind = fc.constantFrom(...kinds);
const anyPhase = fc.constantFrom<Phase>('local', 'connect', 'sent', 'headers', 'body');
const anyStatus = fc.constantFrom(undefined, 200, 409, 500);
const anyState = fc.record({
  charge: fc.constantFrom(...charges),
  retryUnknownOutcome: fc.constantFrom(undefined, true, false),
  idempotent: fc.boolean(),
  maxRetries: fc.nat(4),
  retries: fc.nat(4),
  refreshed: fc.boolean(),
  canRefresh: fc.boolean(),
  replayable: fc.boolean(),
});

describe('retryTable', () => {
  test('has a row for every kind of failure, and no other', () => {
    expect(Object.keys(retryTable).toSorted()).toEqual(kinds.toSorted());
    expect(Object.keys(outcomeOf).toSorted()).toEqual(kinds.toSorted());
  });

  test.each(rows)('%s: free %s, metered %s, charged %s', (kind, free, metered, charged) => {
    expect(retryTable[kind]).toMatchObject({ free, metered, charged });
  });

  test('rule 15, trap 7: no row of a charged call repeats an unknown outcome', () => {
    const unsafe = kinds.filter(
      (kind) => outcomeOf[kind] === 'unknown' && retryTable[kind].charged !== 'throw',
    );

    expect(unsafe).toEqual([]);
  });
});

describe('decide()', () => {
  test.each(rows)('walks the row %s for every class and every option', (kind, ...rules) => {
    const phase = outcomeOf[kind] === 'not_sent' ? 'connect' : 'headers';
    for (const [index, charge] of charges.entries()) {
      for (const retryUnknownOutcome of [undefined, true, false]) {
        const column = { undefined: index, true: Math.min(index, 1), false: index === 0 ? 0 : 2 };
        const rule = rules[column[`${retryUnknownOutcome}`]];

        const first = decide({ kind, phase }, stateOf({ charge, retryUnknownOutcome }));
        const second = decide(
          { kind, phase },
          stateOf({ charge, retryUnknownOutcome, retries: 1 }),
        );
        const third = decide({ kind, phase }, stateOf({ charge, retryUnknownOutcome, retries: 2 }));

        expect(first.action).toBe(rule === 'once' ? 'retry' : rule);
        expect(second.action).toBe(rule === 'once' ? 'throw' : rule);
        expect(third.action).toBe(rule === 'refresh' ? 'refresh' : 'throw');
        expect(first.outcome).toBe(outcomeOf[kind]);
      }
    }
  });

  test('rule 15: no charged call is repeated on an unknown outcome unless the caller says so', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const { action, outcome } = decide({ kind, phase }, { ...state, charge: 'charged' });
        const isAllowed = state.retryUnknownOutcome === true || state.idempotent;
        return outcome !== 'unknown' || action === 'throw' || isAllowed;
      }),
    );
  });

  test('retryUnknownOutcome: false puts a metered call under the rule of charged ones', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const strict = decide(
          { kind, phase },
          { ...state, charge: 'metered', retryUnknownOutcome: false },
        );
        const charged = decide(
          { kind, phase },
          { ...state, charge: 'charged', retryUnknownOutcome: undefined },
        );
        return strict.action === charged.action && strict.outcome === charged.outcome;
      }),
    );
  });

  test('a body that can be sent only once is never sent again', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        return decide({ kind, phase }, { ...state, replayable: false }).action === 'throw';
      }),
    );
  });

  test('trap 6: a code that cannot heal is never sent again', () => {
    fc.assert(
      fc.property(anyPhase, anyStatus, anyState, (phase, status, state) => {
        return decide({ kind: 'cannot_heal', phase, status }, state).action === 'throw';
      }),
    );
  });

  test('nothing but a read is repeated once the answer has begun', () => {
    fc.assert(
      fc.property(anyKind, anyState, (kind, state) => {
        const { action } = decide({ kind, phase: 'body' }, state);
        return action === 'throw' || state.charge === 'free' || state.idempotent;
      }),
    );
  });

  test('never goes past maxRetries, and refreshes a key once', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const { action } = decide({ kind, phase }, state);
        if (action === 'retry') return state.retries < state.maxRetries;
        return action !== 'refresh' || (state.canRefresh && !state.refreshed);
      }),
    );
  });

  test('a 401 is answered with a new key although maxRetries is 0', () => {
    const failure = { kind: 'unauthorized', phase: 'headers' } as const;

    expect(decide(failure, stateOf({ maxRetries: 0 })).action).toBe('refresh');
    expect(decide(failure, stateOf({ canRefresh: false })).action).toBe('throw');
    expect(decide(failure, stateOf({ refreshed: true })).action).toBe('throw');
  });
});
