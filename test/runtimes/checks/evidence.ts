import { APIError, type FetchOptions, type Outcome } from 'model-gateway';
import { assert, equal, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor } from '../harness/emulator.ts';
import { show, takeHits } from '../harness/hits.ts';
import type { Family, World } from '../harness/world.ts';

/** Proof that a fault gives in each runtime. Workers and browsers hide the cause and give none. */
interface Row {
  readonly fault: string;
  /** Runtimes that prove that nothing was sent; in all others the outcome is unknown. */
  readonly notSent?: readonly Family[];
  /** The fault heals, so unsent requests are sent again. */
  readonly heals?: boolean;
  /** The fault is silence, so that only the timeout ends the call. */
  readonly isSilent?: boolean;
  /** The fault may also strike before the connection is open, and then be proved. */
  readonly races?: boolean;
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
  { fault: 'reset on accept', races: true },
  { fault: 'end on accept', races: true },
  { fault: 'reset after the headers' },
  { fault: 'reset after the request' },
  { fault: 'reset after the request over TLS' },
  { fault: 'end after the request' },
  { fault: 'stall', isSilent: true },
  { fault: 'no HTTP' },
  { fault: 'body cut by a reset' },
  { fault: 'body cut by an end' },
  { fault: 'chunked body cut by an end' },
  { fault: 'body stall', isSilent: true },
];

/** Browsers that send a request again by themselves, also on a new connection. A page cannot keep them from that. */
const resends: readonly Family[] = ['firefox', 'webkit'];

/** A handshake may take seconds on a busy machine. */
const longTimeout = 15_000;

/** Fails a charged call by a fault. Any proof that is claimed must be true: no request came then. */
async function fail(
  world: World,
  fault: string,
  baseURL: string,
  timeout: number,
): Promise<APIError> {
  await takeHits(world, fault);
  const client = clientFor(world, { baseURL, maxRetries: 1, timeout });
  const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
  const error = await rejects(call, APIError);
  const { requests } = await takeHits(world, fault);
  const most = resends.includes(world.family) ? 10 : 1;
  assert(requests <= most, `A charged call was sent ${requests} times`);
  assert(
    error.outcome !== 'not_sent' || requests === 0,
    'The error claims that nothing was sent, but a request arrived',
  );
  return error;
}

function toCheck({ fault, notSent = [], heals = false, races = false, isSilent }: Row): Check {
  return {
    name: `fault: ${fault}`,
    async run(world) {
      const error = await fail(
        world,
        fault,
        world.faults[fault] ?? '',
        isSilent ? 600 : longTimeout,
      );
      const isProved = races ? error.outcome === 'not_sent' : notSent.includes(world.family);
      const expected: Outcome = isProved ? 'not_sent' : 'unknown';
      equal(error.outcome, expected, 'outcome');
      equal(error.evidence.phase === 'connect', isProved, 'whether it failed while connecting');
      const [first] = error.evidence.attempts;
      const isRepeated = races ? first?.phase === 'connect' : isProved && heals;
      equal(error.evidence.attempts.length, isRepeated ? 2 : 1, 'attempts');
      return show(error);
    },
  };
}

/** Sets a proxy for one client in Bun and Deno. Node has one for the whole process. */
function throughProxy(url: string): FetchOptions {
  const deno: unknown = Reflect.get(globalThis, 'Deno');
  if (!(deno instanceof Object)) return { proxy: url };
  const make: unknown = Reflect.get(deno, 'createHttpClient');
  return typeof make === 'function'
    ? { client: Reflect.apply(make, deno, [{ proxy: { url } }]) }
    : {};
}

const proxyChecks: readonly Check[] = [
  {
    name: 'fault: proxy that opens no tunnel',
    only: ['bun', 'deno'],
    async run(world) {
      const client = clientFor(world, {
        baseURL: 'https://gateway.test',
        maxRetries: 1,
        fetchOptions: throughProxy(world.faults['proxy that opens no tunnel'] ?? ''),
      });
      const call = client.images.generate({ model: 'm-image', prompt: 'A red circle' });
      const error = await rejects(call, APIError);
      equal([error.outcome, error.evidence.attempts.length], ['not_sent', 2], 'outcome, attempts');
      return show(error);
    },
  },
];

/** The conclusion from each runtime's error, proved by a real fault. */
export const evidenceChecks: readonly Check[] = [
  ...rows.map(toCheck),
  {
    name: 'fault: two addresses, both refuse (AggregateError)',
    only: ['node'],
    async run(world) {
      const baseURL = (world.faults['refused port'] ?? '').replace(
        '127.0.0.1',
        'two-addresses.test',
      );
      const error = await fail(world, 'refused port', baseURL, longTimeout);
      const cause = error.cause instanceof Error ? error.cause.cause : undefined;
      assert(cause instanceof AggregateError, `Not an AggregateError: ${String(cause)}`);
      equal([error.outcome, error.evidence.attempts.length], ['not_sent', 2], 'outcome, attempts');
      return show(error);
    },
  },
  ...proxyChecks,
];
