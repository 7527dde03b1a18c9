import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../src/index.ts';
import * as api from '../../src/index.ts';
import { errorTexts } from '../../docs/tables/errors.ts';
import { errorOf, situations } from '../helpers/every-error.ts';

/** Classes that only others are derived from. */
const bases = ['GatewayError', 'OutputError'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('there is a situation for every class of error', () => {
  // `OpenAIError` is another name of a class.
  const classes = Object.entries(api).flatMap(([name, value]) =>
    typeof value === 'function' && 'kind' in value && value.kind === name ? [name] : [],
  );

  expect([...new Set(situations.map(({ name }) => name)), ...bases].toSorted()).toEqual(
    classes.toSorted(),
  );
});

describe('every error describes what happened', () => {
  test.each(situations)('$name: $how', async (situation) => {
    const error = await errorOf(situation, { logLevel: 'off' });

    if (!(error instanceof GatewayError)) throw new Error(`Not one of ours: ${String(error)}`);
    expect(error.name).toBe(situation.name);
    // The page of error classes has the outcomes of each.
    expect(errorTexts.get(error.name)?.outcomes).toContain(error.outcome);
    if (error.name === 'InvalidInputError') {
      // Nothing was sent, and the message itself says what to do.
      expect(error).toMatchObject({ outcome: 'not_sent', advice: '', evidence: { attempts: [] } });
      expect(error.message).toBe(error.summary);
      return;
    }
    expect(error.advice).toMatch(/^[A-Z\d].{20,}\.$/s);
    expect(error.summary.length).toBeGreaterThan(10);
    expect(['', '.'].map((end) => `${error.summary}${end} ${error.advice}`)).toContain(
      error.message,
    );
    expect(Object.keys(error)).not.toContain('summary');
    if (['LedgerError', 'BudgetError'].includes(error.name)) {
      expect(error).toMatchObject({ outcome: 'not_sent', evidence: { phase: 'local' } });
      return;
    }
    expect(error.evidence.phase).not.toBe('local');
    // A ledger tells of the first call, whose evidence its own error had.
    if (error.name === 'ImageSubmitUnknownError') return;
    if (!/^(Video|Image)(Failed|Wait)/.test(error.name)) {
      // A run of tools makes several calls.
      if (error.name !== 'FunctionCallFinishReasonError')
        expect(error.callId).toMatch(/^call_\w+$/);
      // After a 404 the request is sent once more without the /v1 that the client added.
      const isMissing = error.name === 'NotFoundError';
      expect(error.evidence.attempts).toHaveLength(isMissing ? 2 : 1);
    }
  });
});
