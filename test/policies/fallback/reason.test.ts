import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reasonFor } from '../../../src/policies/fallback/reason.ts';
import type { FallbackReason, Gateway, GatewayOptions } from '../../../src/index.ts';
import { type Failure, failures, provenBy } from '../../failures.ts';
import { scripted } from '../../helpers/clients.ts';
import { settle } from '../../helpers/fake-time.ts';
import { never } from '../../helpers/failures.ts';
import { completion } from '../../helpers/transport.ts';

const messages = [{ role: 'user', content: 'hi' }] as const;
const prompt = 'a boat';

/** A call of each charge class that asks `model-a`. */
const calls = {
  metered: ({ chat }: Gateway) =>
    chat.completions.create({ model: 'model-a', messages: [...messages] }),
  charged: ({ images }: Gateway) => images.generate({ model: 'model-a', prompt }),
};

const answer = { ...completion, data: [{ url: 'https://cdn.test/a.png' }] };

/** The error of a call whose first model fails in this way, and the models that were requested. */
async function run(
  { wire }: Pick<Failure, 'wire'>,
  charge: keyof typeof calls,
  options: GatewayOptions,
) {
  const models: unknown[] = [];
  const respond = async (request: Request): Promise<Response | Error> => {
    const { model } = Object(await request.clone().json());
    models.push(model);
    return model === 'model-a' ? wire() : Response.json(answer);
  };
  const { client } = scripted([respond], {
    baseURL: 'https://gateway.test/v1',
    maxRetries: 0,
    fallback: ['model-b'],
    ...options,
  });
  const { error } = await settle<unknown>(calls[charge](client));
  return { error, models };
}

const reasons: readonly FallbackReason[] = [
  'limits',
  'model',
  'context',
  'overload',
  'timeout',
  'content',
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  { charge: 'metered' },
  // Only failures that prove that nothing was done are followed by another model.
  { charge: 'metered', retryUnknownOutcome: false },
  { charge: 'charged' },
  { charge: 'charged', retryUnknownOutcome: true },
] as const)('a call that fails: %o', ({ charge, ...options }) => {
  const { retryUnknownOutcome } = { retryUnknownOutcome: undefined, ...options };
  const mayPayTwice = charge === 'metered' && retryUnknownOutcome !== false;

  test.for(failures)('$name: reason $reason', async (row) => {
    const { outcome } = provenBy(row.kind);
    const { reason } = row;
    const isAllowed = reason !== undefined && (mayPayTwice || outcome !== 'unknown');
    const others = reasons.filter((other) => other !== reason);
    const expected = [
      [[...others, ...(reason ? [reason] : [])], isAllowed],
      [reason ? [reason] : [], isAllowed],
      [others, false],
      [undefined, isAllowed && reason !== 'content'],
      [[], false],
    ] as const;

    for (const [fallbackOn, isNext] of expected) {
      const { error, models } = await run(row, charge, { retryUnknownOutcome, fallbackOn });

      expect(models).toEqual(isNext ? ['model-a', 'model-b'] : ['model-a']);
      if (isNext) expect(error).toBeUndefined();
      else expect(error).toMatchObject({ name: row.error, outcome });
    }
  });
});

test('a total time limit ends the call', async () => {
  const { error, models } = await run({ wire: never }, 'metered', { totalTimeout: 60 });

  expect(error).toMatchObject({ name: 'APIConnectionTimeoutError', outcome: 'unknown' });
  expect(models).toEqual(['model-a']);
});

test('ends the call after a response above maxResponseBytes', () => {
  const problem = 'the response is larger than 10 bytes (maxResponseBytes).';

  expect(reasonFor({ kind: 'undecided', phase: 'body', problem })).toBeUndefined();
  expect(reasonFor({ kind: 'undecided', phase: 'body' })).toBe('overload');
});
