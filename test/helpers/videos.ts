import { vi } from 'vitest';
import { Gateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { Videos } from '../../src/videos/videos.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type Quirks,
} from '../../src/testing/index.ts';

/** A model and a prompt that every emulator takes. */
export const order = { model: 'm-video', prompt: 'A paper boat' } as const;

export function videosOf(options: GatewayOptions): Videos {
  return new Gateway({ logLevel: 'off', ...options }).videos;
}

/** The videos of an emulator that nobody else uses. */
export function emulatedVideos(options: GatewayOptions = {}, setup: EmulatorOptions = {}) {
  const emulator = createEmulator(setup);
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, videos: videosOf({ apiKey, baseURL, fetch, ...options }) };
}

/** A task of an emulator that was just submitted. */
export async function submitted(videoDuration: number, quirks: Partial<Quirks> = {}) {
  const { emulator, videos } = emulatedVideos({}, { videoDuration, quirks });
  const task = await videos.create(order);
  return { emulator, videos, task };
}

/** The times of requests, in milliseconds from a beginning. */
export function timesOf(requests: readonly { readonly at: number }[], begun: number): number[] {
  return requests.map(({ at }) => at - begun);
}

export const minute = 60_000;

/** How many requests of each method arrived. */
export function countRequests({ requests }: Emulator) {
  const count = (method: string) => requests.filter((request) => request.method === method).length;
  return { posts: count('POST'), gets: count('GET') };
}

type Answer = (request: Request, position: number) => Response | Error | Promise<Response>;

/** Videos whose requests are answered by a function. */
export function answeredVideos(answer: Answer, options: GatewayOptions = {}) {
  const requests: Request[] = [];
  const videos = videosOf({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request.clone());
      const made = await answer(request, requests.length - 1);
      if (made instanceof Error) throw made;
      return made;
    },
    ...options,
  });
  return { videos, requests };
}

/** One answer after the other, as JSON; the last one repeats. */
export function inTurn(...bodies: readonly (object | Response | Error)[]): Answer {
  return (_, position) => {
    const body = bodies[Math.min(position, bodies.length - 1)];
    if (body instanceof Response) return body.clone();
    return body instanceof Error ? body : Response.json(body);
  };
}

/** Calls a method as JavaScript may, without the types. */
export async function loosely(
  videos: Videos,
  method: 'create' | 'retrieve' | 'retrieveFromVendor' | 'remix' | 'wait',
  ...parameters: readonly unknown[]
): Promise<unknown> {
  const called: unknown = Reflect.get(videos, method);
  if (typeof called !== 'function') throw new Error(`There is no ${method}().`);
  return Reflect.apply(called, videos, parameters);
}

/** What a promise rejects with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail.');
}

/** What became of a promise. */
type Settled<T> = { readonly value: T } | { readonly error: unknown };

const realImmediate = setImmediate;
const realNow = performance.now.bind(performance);

const takeTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realImmediate(resolve);
  });

/**
 * Lets happen what needs no faked time: turns of the event loop, as reading a form does, and hashes,
 * which are made in threads of their own, in the order in which they were asked for.
 */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await takeTurn();
  }
  const hashes = Array.from({ length: 8 }, () => crypto.subtle.digest('SHA-256', new Uint8Array()));
  await Promise.all(hashes);
}

/**
 * Lets faked time pass until a promise settles, in steps of a second.
 *
 * @param limit - Seconds after which the test has failed.
 */
async function settle<T>(promise: Promise<T>, limit = 7_200): Promise<Settled<T>> {
  const end: { settled?: Settled<T> } = {};
  promise.then(
    (value) => (end.settled = { value }),
    (error: unknown) => (end.settled = { error }),
  );
  for (let second = 0; second < limit; second += 1) {
    if (second < 2) await takeTurns();
    // Without a timer, what is waited for does not hang on time; 30 seconds are enough for the slowest machine.
    const start = realNow();
    while (end.settled === undefined && vi.getTimerCount() === 0 && realNow() - start < 30_000) {
      await takeTurn();
    }
    await vi.advanceTimersByTimeAsync(second === 0 ? 0 : 1_000);
    if (end.settled !== undefined) return end.settled;
  }
  throw new Error(`The promise did not settle within ${limit} seconds.`);
}

/** What a promise rejects with, in faked time. */
export async function failing(promise: Promise<unknown>, limit?: number): Promise<unknown> {
  const settled = await settle(promise, limit);
  if ('error' in settled) return settled.error;
  throw new Error('The promise was fulfilled.');
}

/** What a promise gives, in faked time. */
export async function giving<T>(promise: Promise<T>, limit?: number): Promise<T> {
  const settled = await settle(promise, limit);
  if ('value' in settled) return settled.value;
  throw settled.error;
}
