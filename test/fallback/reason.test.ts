import { describe, expect, test } from 'vitest';
import { readErrorText } from '../../src/answers/error-body.ts';
import { reasonFor } from '../../src/fallback/reason.ts';

/** The reason to ask another model after an error response of the gateway. */
const reasonAfter = (status: number, message: string) =>
  reasonFor({
    kind: 'refused',
    phase: 'headers',
    status,
    body: readErrorText(JSON.stringify({ error: { message } })),
  });

describe('reasonFor()', () => {
  test.each([
    { status: 404, message: 'The model `gpt-9` does not exist or you do not have access to it.' },
    { status: 404, message: 'model "llama9" not found, try pulling it first' },
    { status: 400, message: 'Invalid model: gpt-9' },
    { status: 400, message: 'The model `gpt-3` has been deprecated.' },
    { status: 503, message: '当前分组 default 下对于模型 nope 无可用渠道' },
  ])('moves on because of the model: $status $message', ({ status, message }) => {
    expect(reasonAfter(status, message)).toBe('model');
  });

  test.each([
    { status: 400, message: 'Invalid model parameters: temperature must be <= 2' },
    {
      status: 400,
      message: 'The model `a` was called with a parameter "logit_bias" that is not supported',
    },
    { status: 400, message: "For this model, the value 'tool_choice: required' is not supported." },
    { status: 403, message: 'Your quota is not enough to call model a' },
    { status: 404, message: 'The deployment could not be found on Vercel.' },
  ])('ends the call: $status $message', ({ status, message }) => {
    expect(reasonAfter(status, message)).toBeUndefined();
  });

  test('ends the call after a response above maxResponseBytes', () => {
    const problem = 'the answer is larger than 10 bytes (maxResponseBytes).';

    expect(reasonFor({ kind: 'undecided', phase: 'body', problem })).toBeUndefined();
    expect(reasonFor({ kind: 'undecided', phase: 'body' })).toBe('overload');
  });
});
