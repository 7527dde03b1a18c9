import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChargeClass, Outcome, Phase } from '../../src/index.ts';
import {
  decide,
  failures,
  getOutcome,
  type FailureKind,
  type RetryState,
  type Rule,
} from '../../src/http/retry.ts';

/** The rules for free, metered and charged calls, and with `retryUnknownOutcome: true` if that differs from metered. */
const rows: readonly [FailureKind, Outcome, Rule, Rule, Rule, Rule?][] = [
  ['invalid_input', 'not_sent', 'throw', 'throw', 'throw'],
  ['cannot_connect', 'not_sent', 'retry', 'retry', 'retry'],
  ['host_not_found', 'not_sent', 'once', 'once', 'once'],
  ['tls_failed', 'not_sent', 'throw', 'throw', 'throw'],
  ['timed_out', 'unknown', 'retry', 'throw', 'throw', 'retry'],
  ['aborted', 'unknown', 'throw', 'throw', 'throw'],
  ['redirected', 'rejected', 'throw', 'throw', 'throw'],
  ['redirected_after_work', 'unknown', 'throw', 'throw', 'throw'],
  ['refused', 'rejected', 'throw', 'throw', 'throw'],
  ['conflict', 'rejected', 'throw', 'throw', 'throw'],
  ['unauthorized', 'rejected', 'refresh', 'refresh', 'refresh'],
  ['too_early', 'rejected', 'retry', 'retry', 'once'],
  ['rate_limited', 'rejected', 'retry', 'retry', 'retry'],
  ['bare_rate_limited', 'rejected', 'retry', 'retry', 'once'],
  ['server_error', 'unknown', 'retry', 'retry', 'throw'],
  ['interrupted', 'unknown', 'retry', 'retry', 'throw'],
  ['unusable_answer', 'unknown', 'retry', 'throw', 'throw'],
  ['undecided', 'unknown', 'throw', 'throw', 'throw'],
  ['content_refused', 'unknown', 'throw', 'throw', 'throw'],
];

const kinds = rows.map(([kind]) => kind);
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
  test('has a row for every kind of failure, and no other', () => {
    expect(Object.keys(failures).toSorted()).toEqual(kinds.toSorted());
  });

  test('no row of a charged call repeats an unknown outcome', () => {
    const unsafe = kinds.filter((kind) => {
      const { outcome, rules: row } = failures[kind];
      return outcome === 'unknown' && row.charged !== 'throw';
    });

    expect(unsafe).toEqual([]);
  });
});

describe('decide()', () => {
  test.each(rows)(
    'walks the row %s for every class and every option',
    (kind, outcome, ...rules) => {
      const phase = outcome === 'not_sent' ? 'connect' : 'headers';
      for (const [index, charge] of charges.entries()) {
        for (const retryUnknownOutcome of [undefined, true, false]) {
          const [free, metered, , allowed = metered] = rules;
          const column = {
            undefined: rules[index],
            true: charge === 'free' ? free : allowed,
            false: rules[index === 0 ? 0 : 2],
          };
          const rule = column[`${retryUnknownOutcome}`];

          const first = decide({ kind, phase }, retryState({ charge, retryUnknownOutcome }));
          const second = decide(
            { kind, phase },
            retryState({ charge, retryUnknownOutcome, retries: 1 }),
          );
          const third = decide(
            { kind, phase },
            retryState({ charge, retryUnknownOutcome, retries: 2 }),
          );

          expect(first).toBe(rule === 'once' ? 'retry' : rule);
          expect(second).toBe(rule === 'once' ? 'throw' : rule);
          expect(third).toBe(rule === 'refresh' ? 'refresh' : 'throw');
          expect(getOutcome({ kind, phase })).toBe(outcome);
        }
      }
    },
  );

  test('no charged call is repeated on an unknown outcome unless the caller says so', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const action = decide({ kind, phase }, { ...state, charge: 'charged' });
        const isAllowed = state.retryUnknownOutcome === true || state.idempotent;
        return getOutcome({ kind, phase }) !== 'unknown' || action === 'throw' || isAllowed;
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
        return strict === charged;
      }),
    );
  });

  test('a metered call that hit a time limit of the client is repeated only if the caller allows it', () => {
    fc.assert(
      fc.property(anyPhase, anyState, (phase, state) => {
        const action = decide({ kind: 'timed_out', phase }, { ...state, charge: 'metered' });
        return action === 'throw' || state.retryUnknownOutcome === true || state.idempotent;
      }),
    );
  });

  test('what never left the caller is not sent, and not repeated', () => {
    fc.assert(
      fc.property(anyKind, anyState, (kind, state) => {
        const failure = { kind, phase: 'local' } as const;
        return getOutcome(failure) === 'not_sent' && decide(failure, state) === 'throw';
      }),
    );
  });

  test('a body that can be sent only once is never sent again', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        return decide({ kind, phase }, { ...state, replayable: false }) === 'throw';
      }),
    );
  });

  test('a refused request is never sent again', () => {
    fc.assert(
      fc.property(anyPhase, anyState, (phase, state) => {
        return decide({ kind: 'refused', phase }, state) === 'throw';
      }),
    );
  });

  test('nothing but a read is repeated once the answer has begun', () => {
    fc.assert(
      fc.property(anyKind, anyState, (kind, state) => {
        const action = decide({ kind, phase: 'body' }, state);
        return action === 'throw' || state.charge === 'free' || state.idempotent;
      }),
    );
  });

  test('never goes past maxRetries, and refreshes a key once', () => {
    fc.assert(
      fc.property(anyKind, anyPhase, anyState, (kind, phase, state) => {
        const action = decide({ kind, phase }, state);
        if (action === 'retry') return state.retries < state.maxRetries;
        return action !== 'refresh' || state.canRefresh;
      }),
    );
  });

  test('a 401 is answered with a new key although maxRetries is 0', () => {
    const failure = { kind: 'unauthorized', phase: 'headers' } as const;

    expect(decide(failure, retryState({ maxRetries: 0 }))).toBe('refresh');
    expect(decide(failure, retryState({ canRefresh: false }))).toBe('throw');
  });
});
