import {
  APIConnectionError,
  APIConnectionTimeoutError,
  InternalServerError,
  RateLimitError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
  VideoSubmitUnknownError,
} from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh, type Remote } from '../harness/emulator.ts';
import { isPage, type World } from '../harness/world.ts';

const chat = {
  model: 'm-large',
  messages: [{ role: 'user' as const, content: 'Say hello' }],
};
const image = { model: 'm-image', prompt: 'A red circle' };
const video = { model: 'm-video', prompt: 'A boat' };

/**
 * Looks how often a request has arrived whose connection is reset each time.
 *
 * Chromium sends it again by itself as long as it has connections that it has used before, at most six
 * to one host. A page cannot keep it from that.
 */
async function checkSentOnce(world: World, remote: Remote): Promise<string | undefined> {
  const { length } = await remote.requests();
  if (!isPage(world)) {
    equal(length, 1, 'requests');
    return undefined;
  }
  assert(length <= 7, `The browser has sent it ${length} times`);
  return `browser: ${length} times`;
}

/** Faults of the gateway: what is sent again, and what never is. */
export const faultChecks: readonly Check[] = [
  {
    name: 'a charged call whose answer is lost is sent once and ends unknown',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'reset', when: 'after-charge' }, { times: 20 });
      const error = await rejects(client.images.generate(image), APIConnectionError);
      equal([error.outcome, error.evidence.attempts.length], ['unknown', 1], 'outcome, attempts');
      return checkSentOnce(world, remote);
    },
  },
  {
    name: 'a video submission that is lost says so, and is sent once',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'reset', when: 'after-charge' }, { times: 20 });
      const error = await rejects(client.videos.create(video), VideoSubmitUnknownError);
      equal([error.outcome, error.evidence.attempts.length], ['unknown', 1], 'outcome, attempts');
      return checkSentOnce(world, remote);
    },
  },
  {
    name: 'a metered call whose answer is lost is sent again',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'reset', when: 'before-charge' });
      await client.chat.completions.create(chat);
      equal((await remote.requests()).length, 2, 'requests');
    },
  },
  {
    name: 'retryUnknownOutcome: false keeps a metered call from being sent again',
    async run(world) {
      const { client, remote } = await fresh(world, { retryUnknownOutcome: false });
      await remote.fail({ type: 'reset', when: 'before-charge' }, { times: 20 });
      await rejects(client.chat.completions.create(chat), APIConnectionError);
      return checkSentOnce(world, remote);
    },
  },
  {
    name: 'a metered call that takes longer than its timeout is sent once',
    async run(world) {
      const { client, remote } = await fresh(world, { timeout: 1_000 });
      await remote.fail({ type: 'hang', charged: true }, { times: 20 });
      const error = await rejects(client.chat.completions.create(chat), APIConnectionTimeoutError);
      equal([error.outcome, error.timeout], ['unknown', 1_000], 'outcome and timeout');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'a charged call is sent again after a rate limit',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'rate-limit', retryAfter: 0 });
      await client.images.generate(image);
      equal((await remote.requests()).length, 2, 'requests');
      equal(await remote.charges(), 1, 'charges');
    },
  },
  {
    name: 'a rate limit that stays is thrown as refused',
    async run(world) {
      const { client, remote } = await fresh(world, { maxRetries: 1 });
      await remote.fail({ type: 'rate-limit', retryAfter: 0 }, { times: 5 });
      const error = await rejects(client.images.generate(image), RateLimitError);
      equal(error.outcome, 'rejected', 'outcome');
      equal((await remote.requests()).length, 2, 'requests');
    },
  },
  {
    name: 'a 502 page ends a charged call unknown, after one request',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'html', status: 502, charged: true });
      const error = await rejects(client.images.generate(image), InternalServerError);
      equal([error.outcome, error.status], ['unknown', 502], 'outcome and status');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'a page with status 200 is rejected',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'html', status: 200 });
      const error = await rejects(client.images.generate(image), UnexpectedResponseError);
      assert(error.body?.includes('<') === true, 'The page is not in the error');
    },
  },
  {
    name: 'an answer that is cut ends a charged call unknown, after one request',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'cut', bytes: 20 });
      const error = await rejects(client.images.generate(image), UnexpectedResponseError);
      equal([error.outcome, error.evidence.phase], ['unknown', 'body'], 'outcome and phase');
      equal((await remote.requests()).length, 1, 'requests');
      equal(await remote.charges(), 1, 'charges');
    },
  },
  {
    name: 'a POST is not sent on to where a redirect leads',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'redirect', status: 307, location: `${world.emulator}/elsewhere` });
      const error = await rejects(client.images.generate(image), UnexpectedRedirectError);
      // Pages are not told which redirect it was, and some lead to the result of the work.
      equal(error.outcome, isPage(world) ? 'unknown' : 'rejected', 'outcome');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'a redirect to the result of a POST is not followed, and ends unknown',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'redirect', status: 303, location: `${world.emulator}/elsewhere` });
      const error = await rejects(client.images.generate(image), UnexpectedRedirectError);
      equal(error.outcome, 'unknown', 'outcome');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
  {
    name: 'content on another origin is fetched without the key',
    async run(world) {
      const { client, remote } = await fresh(world);
      const task = await client.videos.create(video);
      await remote.clock({ advance: 60_000 });
      await remote.quirks({ contentDelivery: 'redirect', fileOrigin: 'other' });
      // The emulator gives the same ids after each reset, and browsers keep content in their cache.
      const query = { at: Date.now() };
      const content = await client.videos.downloadContent(task.id, { query });
      assert((await content.arrayBuffer()).byteLength > 100, 'Missing content');
      const seen = (await remote.requests()).filter(({ method }) => method === 'GET');
      for (const { origin, hasKey } of seen) {
        equal(hasKey, origin === world.emulator, `whether ${origin} was given the key`);
      }
      equal(new Set(seen.map(({ origin }) => origin)).size, 2, 'origins');
    },
  },
  {
    name: 'a call that takes longer than its timeout ends unknown',
    async run(world) {
      const { client, remote } = await fresh(world, { timeout: 1_000 });
      await remote.fail({ type: 'hang', charged: true });
      const error = await rejects(client.images.generate(image), APIConnectionTimeoutError);
      equal([error.outcome, error.timeout], ['unknown', 1_000], 'outcome and timeout');
      equal((await remote.requests()).length, 1, 'requests');
    },
  },
];
