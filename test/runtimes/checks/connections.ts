import { APIError } from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor } from '../harness/emulator.ts';
import { show, takeHits } from '../harness/hits.ts';
import { engines, isPage, type World } from '../harness/world.ts';

/**
 * Chromium sends a request again by itself when a connection that it has used before breaks, whatever
 * its method. A page cannot keep it from that, so it is only pinned down here.
 */
const resends = engines;

/** True if a runtime uses HTTP/2 by default. */
function speaksHttp2(world: World): boolean {
  const { runtime, family } = world;
  return runtime === 'node-26' || family === 'deno' || isPage(world);
}

const http2Checks: readonly Check[] = [
  {
    name: 'fault: HTTP/2 REFUSED_STREAM',
    only: ['node', 'deno', ...engines],
    async run(world) {
      if (!speaksHttp2(world)) return 'no HTTP/2';
      const fault = 'HTTP/2 REFUSED_STREAM';
      await takeHits(world, fault);
      const client = clientFor(world, {
        baseURL: world.faults[fault],
        maxRetries: 1,
        // WebKit never ends such a request.
        timeout: world.family === 'webkit' ? 5_000 : undefined,
      });
      const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
      const error = await rejects(call, APIError);
      equal(error.outcome, isPage(world) ? 'unknown' : 'not_sent', 'outcome');
      // Deno and Chromium send it again by themselves, which this answer allows them.
      const { requests } = await takeHits(world, fault);
      return `${show(error)}, sent ${requests} times`;
    },
  },
  ...['INTERNAL_ERROR', 'GOAWAY', 'reset'].map((word): Check => {
    const fault = `HTTP/2 ${word} after the request`;
    return {
      name: `fault: ${fault}`,
      only: ['node', 'deno', ...engines],
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
        // WebKit opens another connection for the second call.
        equal(requests, world.family === 'webkit' ? 2 : 3, 'requests for two calls');
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

/** Makes calls around the moment when the server closes idle connections. */
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
      name: `${fault}: 20 reads, none fails`,
      async run(world) {
        const client = clientFor(world, { baseURL: world.faults[fault] });
        const errors = await loop(20, () => client.get('/v1/anything'));
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

/** Connections that carry more than one request, where runtimes may send one again by themselves. */
export const connectionChecks: readonly Check[] = [
  ...reusedChecks,
  ...http2Checks,
  ...keepAliveChecks,
];
