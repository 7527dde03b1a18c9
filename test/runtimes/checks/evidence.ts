import { APIError, type Outcome } from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor } from '../harness/emulator.ts';
import type { Family, World } from '../harness/world.ts';

interface Hits {
  readonly connections: number;
  readonly requests: number;
}

async function takeHits({ control }: World, fault: string): Promise<Hits> {
  const response = await fetch(`${control}/hits?fault=${encodeURIComponent(fault)}`);
  return response.json();
}

/** What a fault proves in each runtime. Workers and browsers hide what happened, so never anything. */
interface Row {
  readonly fault: string;
  /** Where it is proved that nothing was sent; everywhere else the outcome is unknown. */
  readonly notSent?: readonly Family[];
  /** Whether it heals, so that what was not sent is sent again. */
  readonly heals?: boolean;
}

const told: readonly Family[] = ['node', 'bun', 'deno'];

const rows: readonly Row[] = [
  { fault: 'refused port', notSent: told, heals: true },
  { fault: 'refused port of several addresses', notSent: told, heals: true },
  { fault: 'refused port over TLS', notSent: told, heals: true },
  { fault: 'unresolvable name', notSent: told, heals: true },
  { fault: 'self-signed certificate', notSent: told },
  { fault: 'certificate of another name', notSent: told },
  // Bun says of both "The TLS handshake failed", and of a broken record after the request too.
  { fault: 'TLS to a plain port', notSent: ['node', 'deno'] },
  { fault: 'end in the handshake', notSent: ['deno'] },
  { fault: 'reset in the handshake', notSent: ['deno'], heals: true },
  { fault: 'plain text to a TLS port' },
  { fault: 'client certificate wanted' },
  { fault: 'broken record after the request' },
  { fault: 'reset on accept' },
  { fault: 'end on accept' },
  { fault: 'reset after the headers' },
  { fault: 'reset after the request' },
  { fault: 'reset after the request over TLS' },
  { fault: 'end after the request' },
  { fault: 'stall' },
  { fault: 'no HTTP' },
  { fault: 'body cut by a reset' },
  { fault: 'body cut by an end' },
  { fault: 'chunked body cut by an end' },
  { fault: 'body stall' },
];

/** Fails a charged call by a fault. Any proof that is claimed must be true: no request came then. */
async function fail(world: World, fault: string, baseURL: string): Promise<APIError> {
  await takeHits(world, fault);
  const client = clientFor(world, { baseURL, maxRetries: 1, timeout: 600 });
  const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
  const error = await rejects(call, APIError);
  const { requests } = await takeHits(world, fault);
  assert(requests <= 1, `A charged call was sent ${requests} times`);
  assert(
    error.outcome !== 'not_sent' || requests === 0,
    'It is said that nothing was sent, but a request came',
  );
  return error;
}

function show({ outcome, evidence }: APIError): string {
  return `${outcome} ${evidence.code ?? evidence.phase}`;
}

function checkOf({ fault, notSent = [], heals = false }: Row): Check {
  return {
    name: `fault: ${fault}`,
    async run(world) {
      const error = await fail(world, fault, world.faults[fault] ?? '');
      const isProved = notSent.includes(world.family);
      const expected: Outcome = isProved ? 'not_sent' : 'unknown';
      equal(error.outcome, expected, 'outcome');
      equal(error.evidence.phase === 'connect', isProved, 'whether it failed while connecting');
      equal(error.evidence.attempts.length, isProved && heals ? 2 : 1, 'attempts');
      return show(error);
    },
  };
}

/**
 * Chromium sends a request again by itself when a connection that it has used before breaks, whatever
 * its method. A page cannot keep it from that, so it is only pinned down here.
 */
const resends: readonly Family[] = ['chromium'];

/** Whether a runtime speaks HTTP/2 by itself. */
function speaksHttp2({ runtime, family }: World): boolean {
  return runtime === 'node-26' || family === 'deno' || family === 'chromium';
}

const http2Checks: readonly Check[] = [
  {
    name: 'fault: HTTP/2 REFUSED_STREAM',
    only: ['node', 'deno', 'chromium'],
    async run(world) {
      if (!speaksHttp2(world)) return 'no HTTP/2';
      const fault = 'HTTP/2 REFUSED_STREAM';
      await takeHits(world, fault);
      const client = clientFor(world, { baseURL: world.faults[fault], maxRetries: 1 });
      const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
      const error = await rejects(call, APIError);
      equal(error.outcome, world.family === 'chromium' ? 'unknown' : 'not_sent', 'outcome');
      // Deno and Chromium send it again by themselves, which this answer allows them.
      const { requests } = await takeHits(world, fault);
      return `${show(error)}, sent ${requests} times`;
    },
  },
  ...['INTERNAL_ERROR', 'GOAWAY', 'reset'].map((word): Check => {
    const fault = `HTTP/2 ${word} after the request`;
    return {
      name: `fault: ${fault}`,
      only: ['node', 'deno', 'chromium'],
      async run(world) {
        if (!speaksHttp2(world)) return 'no HTTP/2';
        await takeHits(world, fault);
        const client = clientFor(world, { baseURL: world.faults[fault], maxRetries: 1 });
        const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
        const error = await rejects(call, APIError);
        equal([error.outcome, error.evidence.attempts.length], ['unknown', 1], 'outcome, attempts');
        const { requests } = await takeHits(world, fault);
        if (!resends.includes(world.family)) equal(requests, 1, 'requests');
        return `${show(error)}, sent ${requests} ${requests === 1 ? 'time' : 'times'}`;
      },
    };
  }),
];

const reusedChecks = ['reset', 'end'].map((word): Check => {
  const fault = `${word} after the second request`;
  return {
    name: `fault: ${fault} of a connection`,
    async run(world) {
      await takeHits(world, fault);
      const client = clientFor(world, { baseURL: world.faults[fault] });
      await client.post('/v1/anything', { body: {} });
      // A connection goes back to its pool a moment after the answer was read.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const call = client.post('/v1/anything', { body: {} });
      if (resends.includes(world.family)) {
        await call;
        const { requests } = await takeHits(world, fault);
        equal(requests, 3, 'requests for two calls');
        return 'sent again by the browser';
      }
      const error = await rejects(call, APIError);
      equal([error.outcome, error.evidence.attempts.length], ['unknown', 1], 'outcome, attempts');
      const { connections, requests } = await takeHits(world, fault);
      equal([connections, requests], [1, 2], 'connections, and requests for two calls');
      return show(error);
    },
  };
});

/** Makes calls whose pauses fall around the moment at which the server closes idle connections. */
async function loop(count: number, call: () => PromiseLike<unknown>): Promise<APIError[]> {
  const errors: APIError[] = [];
  for (let index = 0; index < count; index += 1) {
    try {
      await call();
    } catch (error) {
      if (!APIError.isInstance(error)) throw error;
      errors.push(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 22 + (index % 16)));
  }
  return errors;
}

const keepAliveChecks = ['closed', 'reset'].flatMap((word): Check[] => {
  const fault = `keep-alive ${word} after 30 ms`;
  return [
    {
      name: `${fault}: 40 reads, none fails`,
      async run(world) {
        const client = clientFor(world, { baseURL: world.faults[fault] });
        const errors = await loop(40, () => client.get('/v1/anything'));
        equal(errors.map(show), [], 'errors');
      },
    },
    {
      name: `${fault}: 40 charged calls, none is sent twice`,
      async run(world) {
        await takeHits(world, fault);
        const client = clientFor(world, { baseURL: world.faults[fault] });
        const errors = await loop(40, () => client.post('/v1/anything', { body: {} }));
        const { requests } = await takeHits(world, fault);
        assert(requests <= 40, `${requests} requests for 40 calls`);
        equal(
          errors.filter(({ outcome }) => outcome !== 'unknown'),
          [],
          'errors that are not unknown',
        );
        return `${errors.length} unknown`;
      },
    },
  ];
});

/** What is concluded from what each runtime throws, proved by a real fault. */
export const evidenceChecks: readonly Check[] = [
  ...rows.map(checkOf),
  {
    name: 'fault: two addresses, both refuse (AggregateError)',
    only: ['node'],
    async run(world) {
      const baseURL = (world.faults['refused port'] ?? '').replace(
        '127.0.0.1',
        'two-addresses.test',
      );
      const error = await fail(world, 'refused port', baseURL);
      const cause = error.cause instanceof Error ? error.cause.cause : undefined;
      assert(cause instanceof AggregateError, `It is no AggregateError: ${String(cause)}`);
      equal([error.outcome, error.evidence.attempts.length], ['not_sent', 2], 'outcome, attempts');
      return show(error);
    },
  },
  ...reusedChecks,
  ...http2Checks,
  ...keepAliveChecks,
];
