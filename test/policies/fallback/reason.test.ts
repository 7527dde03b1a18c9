import { describe, expect, test } from 'vitest';
import { readErrorText } from '../../../src/answers/error-body.ts';
import { reasonFor } from '../../../src/policies/fallback/reason.ts';
import type { FallbackReason } from '../../../src/options/options.ts';
import type { Fault } from '../../../src/testing/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';

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
  ])('uses the next model: $status $message', ({ status, message }) => {
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
    const problem = 'the response is larger than 10 bytes (maxResponseBytes).';

    expect(reasonFor({ kind: 'undecided', phase: 'body', problem })).toBeUndefined();
    expect(reasonFor({ kind: 'undecided', phase: 'body' })).toBe('overload');
  });
});

interface Row {
  readonly fault: string;
  readonly cause: Fault;
  readonly reason: FallbackReason;
  /** Whether the next model is asked for images too. */
  readonly isFree: boolean;
}

const error = (status: number, details: Partial<Fault & { type: 'error' }> = {}): Fault => ({
  type: 'error',
  status,
  ...details,
});
const charged = true;

const rows: readonly Row[] = [
  { fault: '429', cause: error(429), reason: 'limits', isFree: true },
  {
    fault: "a provider's account without credit",
    cause: error(403, { code: 'insufficient_quota' }),
    reason: 'limits',
    isFree: true,
  },
  {
    fault: 'a missing model',
    cause: error(404, { code: 'model_not_found', message: 'No such model' }),
    reason: 'model',
    isFree: true,
  },
  {
    fault: 'a long prompt',
    cause: error(400, { message: 'prompt is too long: 9 tokens > 5 maximum' }),
    reason: 'context',
    isFree: true,
  },
  { fault: '503', cause: error(503, { charged }), reason: 'overload', isFree: false },
  { fault: '408', cause: error(408, { charged }), reason: 'overload', isFree: false },
  { fault: '499', cause: error(499, { charged }), reason: 'overload', isFree: false },
  {
    fault: 'a lost connection',
    cause: { type: 'reset', when: 'after-charge' },
    reason: 'overload',
    isFree: false,
  },
  {
    fault: 'an error with status 200',
    cause: error(200, { charged }),
    reason: 'overload',
    isFree: false,
  },
  {
    fault: 'a time limit of the client',
    cause: { type: 'hang', charged },
    reason: 'timeout',
    isFree: false,
  },
  {
    fault: 'content refused before any work',
    cause: error(400, { code: 'content_policy_violation' }),
    reason: 'content',
    isFree: true,
  },
  {
    fault: 'content refused for a fee',
    cause: error(400, { code: 'violation_fee.grok', charged }),
    reason: 'content',
    isFree: false,
  },
];

const reasons: readonly FallbackReason[] = [
  'limits',
  'model',
  'context',
  'overload',
  'timeout',
  'content',
];

describe.each(['metered', 'charged'] as const)('fallbackOn of a %s call', (charge) => {
  const run = async ({ cause }: Row, fallbackOn: readonly FallbackReason[] | undefined) => {
    const { client, emulator } = emulated({ maxRetries: 0, timeout: 60 });
    failFirst(emulator, cause);
    const options = { fallback: ['model-b'], fallbackOn };
    const call =
      charge === 'metered'
        ? client.chat.completions.create(
            { model: 'model-a', messages: [{ role: 'user', content: 'hi' }] },
            options,
          )
        : client.images.generate({ model: 'model-a', prompt: 'a boat' }, options);
    const asksNext = await Promise.resolve(call).then(
      () => true,
      () => false,
    );
    const { requests, charges } = requestedModels(emulator);
    expect(requests).toEqual(asksNext ? ['model-a', 'model-b'] : ['model-a']);
    if (charge === 'charged') expect(charges.length).toBeLessThanOrEqual(1);
    return asksNext;
  };

  test.for(rows)('$fault is "$reason"', async (row) => {
    const { reason, isFree } = row;
    const may = charge === 'metered' || isFree;

    expect(await run(row, [reason])).toBe(may);
    expect(
      await run(
        row,
        reasons.filter((other) => other !== reason),
      ),
    ).toBe(false);
    expect(await run(row, undefined)).toBe(may && reason !== 'content');
    expect(await run(row, [])).toBe(false);
  });
});

test('retryUnknownOutcome: false requests no other model after a 408', async () => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  failFirst(emulator, error(408, { charged }));

  const failed = await failureOf(
    client.chat.completions.create(
      { model: 'model-a', messages: [{ role: 'user', content: 'hi' }] },
      { fallback: ['model-b'], retryUnknownOutcome: false },
    ),
  );

  expect(failed).toMatchObject({ status: 408, outcome: 'unknown' });
  expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: ['model-a'] });
});
