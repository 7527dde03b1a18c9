import { Gateway, type Videos } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type Quirks,
} from '../../src/testing/index.ts';

/** A model and a prompt that every emulator accepts. */
export const order = { model: 'm-video', prompt: 'A paper boat' } as const;

export function videosOf(options: GatewayOptions): Videos {
  return new Gateway({ logLevel: 'off', ...options }).videos;
}

/** `videos` of a client with its own emulator. */
export function emulatedVideos(options: GatewayOptions = {}, setup: EmulatorOptions = {}) {
  const emulator = createEmulator(setup);
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, videos: videosOf({ apiKey, baseURL, fetch, ...options }) };
}

/** A task that was just submitted to an emulator. */
export async function submitted(videoDuration: number, quirks: Partial<Quirks> = {}) {
  const { emulator, videos } = emulatedVideos({}, { videoDuration, quirks });
  const task = await videos.create(order);
  return { emulator, videos, task };
}

/** The times of requests, in milliseconds since `begun`. */
export function timesOf(requests: readonly { readonly at: number }[], begun: number): number[] {
  return requests.map(({ at }) => at - begun);
}

export const minute = 60_000;

/** Counts requests by method. */
export function countRequests({ requests }: Emulator) {
  const count = (method: string) => requests.filter((request) => request.method === method).length;
  return { posts: count('POST'), gets: count('GET') };
}

type Answer = (request: Request, position: number) => Response | Error | Promise<Response>;

/** `videos` of a client whose responses a function returns. */
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

/** One JSON response after the other; the last one repeats. */
export function inTurn(...bodies: readonly (object | Response | Error)[]): Answer {
  return (_, position) => {
    const body = bodies[Math.min(position, bodies.length - 1)];
    if (body instanceof Response) return body.clone();
    return body instanceof Error ? body : Response.json(body);
  };
}

/** Calls a method without its types, as JavaScript can. */
export async function loosely(
  videos: Videos,
  method: 'create' | 'retrieve' | 'retrieveFromVendor' | 'remix' | 'wait',
  ...parameters: readonly unknown[]
): Promise<unknown> {
  const called: unknown = Reflect.get(videos, method);
  if (typeof called !== 'function') throw new Error(`Missing ${method}()`);
  return Reflect.apply(called, videos, parameters);
}
