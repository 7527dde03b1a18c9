// The options of waits for images mean what they mean in waits for videos.
import { describe, expect, test, vi } from 'vitest';
import type { ImageWaitOptions } from '../../../src/index.ts';
import { failureOf, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

const running = () => Response.json({ status: 'processing', progress: 40 });
const url = 'https://pictures.test/cat.png';
const done = () => Response.json({ status: 'completed', data: [{ url }] });
const broken = () => new Response('{"error":{"message":"busy"}}', { status: 500 });
const missing = () => new Response('{"error":{"message":"no such task"}}', { status: 404 });
const handle = {
  v: 1,
  kind: 'image',
  id: 't-1',
  baseURL: 'https://gateway.test',
  createdAt: 1,
} as const;

fakeWaitingTime();

/** Waits, and returns the end of the wait and its duration in milliseconds. */
async function waitWith(options: ImageWaitOptions, ...answers: Parameters<typeof scripted>[0]) {
  const { client, requests } = scripted(answers);
  const begun = performance.now();
  let ended = begun;
  const wait = client.images.wait('t-1', options).finally(() => {
    ended = performance.now();
  });
  const end = await settle(wait);
  return { ...end, requests, duration: Math.round(ended - begun) };
}

describe('images.wait()', () => {
  test('ends at timeout, the limit of the whole wait', async () => {
    const { error, duration } = await waitWith({ timeout: 45_000 }, running);

    expect(error).toMatchObject({
      name: 'ImageWaitTimeoutError',
      message: expect.stringContaining('within 45000 ms'),
    });
    expect(duration).toBe(45_000);
  });

  test('waits for 10 minutes without timeout, and forever with null', async () => {
    const { duration } = await waitWith({}, running);
    const answers = [...Array.from({ length: 100 }, () => running), done];
    const forever = await waitWith({ timeout: null }, ...answers);

    expect(duration).toBe(600_000);
    expect(forever.value).toHaveProperty('data', [{ url }]);
    expect(forever.duration).toBeGreaterThan(600_000);
  });

  test('polls at the interval', async () => {
    const { requests, duration } = await waitWith({ interval: 700 }, running, running, done);

    expect(requests).toHaveLength(3);
    expect(duration).toBe(1_400);
  });

  test('ends an attempt of a poll after pollTimeout', async () => {
    let count = 0;
    const slow = () => {
      count += 1;
      return count === 1 ? new Promise<never>(() => {}) : done();
    };
    const { value, duration } = await waitWith({ pollTimeout: 500, maxRetries: 0 }, slow, slow);

    expect(value).toHaveProperty('data', [{ url }]);
    expect(duration).toBe(2_500);
  });

  test('ends after maxConsecutiveErrors, and if the task stays missing', async () => {
    const failing = await waitWith({ maxConsecutiveErrors: 0, maxRetries: 0 }, broken);
    const lost = await waitWith({}, missing);

    expect(failing.error).toMatchObject({ name: 'ImageWaitError', polls: 1 });
    expect(lost.error).toHaveProperty('name', 'ImageWaitError');
    expect(lost.duration).toBeGreaterThanOrEqual(30_000);
  });

  test('calls onUpdate', async () => {
    const onUpdate = vi.fn<NonNullable<ImageWaitOptions['onUpdate']>>();
    await waitWith({ onUpdate, interval: 250 }, running, running, done);

    expect(onUpdate.mock.calls.map(([{ status, progress }]) => [status, progress])).toEqual([
      ['in_progress', 40],
      ['completed', undefined],
    ]);
  });

  test('refuses a handle of another gateway, and takes one that names this one', async () => {
    const { client } = scripted([done]);
    const ref = { ...handle, baseURL: 'https://before.test' };

    const refused = await failureOf(client.images.wait(ref));
    const moved = { ...ref, baseURL: handle.baseURL };
    const images = await client.images.wait(moved);
    const { next } = await client.images.step(moved);

    expect(refused).toHaveProperty('field', 'ref.baseURL');
    expect(String(refused)).toMatch('change baseURL in the handle');
    expect(images.data).toEqual([{ url }]);
    expect(next).toHaveProperty('images.data', [{ url }]);
  });
});

test('images.step() ends at timeout, counted from the first step', async () => {
  const { client } = scripted([running]);
  const { state } = await client.images.step(handle, undefined, { timeout: 5_000 });
  await vi.advanceTimersByTimeAsync(5_000);

  const { next } = await client.images.step(handle, state, { timeout: 5_000 });

  expect(next).toHaveProperty('error.name', 'ImageWaitTimeoutError');
});
