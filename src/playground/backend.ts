import { Gateway, type GatewayOptions } from '../index.ts';
import { createEmulator, type Emulator } from '../testing/index.ts';
import { faultOf } from './scenarios.ts';
import type { LiveCall } from './live-call.ts';
import type { Attempt, Books } from './protocol.ts';

/** Names the call that a request belongs to. Only the emulator is sent it. */
const callHeader = 'x-playground-call';

/** The gateway that calls go to. */
export interface Backend extends AsyncDisposable {
  readonly isEmulator: boolean;
  readonly baseURL: string;
  /** The pause between looks at a video, in milliseconds; the client's own rule when there is none. */
  readonly interval: number | undefined;
  /** The client of one call; on the emulator with the fault that the call is to meet. */
  client(call: LiveCall): Gateway;
  /** The client for what is free. */
  readonly free: Gateway;
  /** What was sent and charged for a call. */
  attempts(id: string): readonly Attempt[] | undefined;
  books(): Books;
  steerClock(order: ClockOrder): void;
}

/** What the emulator's clock is to do. */
interface ClockOrder {
  readonly hold?: unknown;
  readonly advance?: unknown;
  readonly speed?: unknown;
}

const noBooks: Books = { charges: 0, amount: 0, refunded: 0, clock: { held: false, speed: 1 } };

/** A real gateway, which charges for what is done. */
export function realBackend(options: GatewayOptions): Backend {
  const gateway = new Gateway(options);
  return {
    isEmulator: false,
    baseURL: gateway.baseURL,
    interval: undefined,
    free: gateway,
    client: ({ view: { strict } }) =>
      strict === true ? gateway.withOptions({ retryUnknownOutcome: false }) : gateway,
    attempts: () => undefined,
    books: () => noBooks,
    steerClock() {},
    async [Symbol.asyncDispose]() {},
  };
}

function attemptsOf({ requests, charges }: Emulator, id: string): Attempt[] {
  return requests
    .filter(({ headers, method }) => headers[callHeader] === id && method === 'POST')
    .map(({ id: requestId, method, path, status }) => {
      const own = charges.filter((charge) => charge.requestId === requestId);
      return {
        method,
        path,
        status,
        charged: own.reduce((sum, { amount }) => sum + amount, 0),
        refunded: own.some(({ refundedAt }) => refundedAt !== undefined),
      };
    });
}

/** The emulator, served on the loopback address as a gateway is. */
export async function emulatorBackend(): Promise<Backend> {
  const emulator = createEmulator({ videoDuration: 12_000, quirks: { eventDelay: 20 } });
  const server = await emulator.listen();
  const options: GatewayOptions = {
    baseURL: server.url,
    apiKey: emulator.apiKey,
    // Nobody wants to watch ten minutes of silence.
    timeout: 6_000,
    idleTimeout: 3_000,
    firstByteTimeout: 6_000,
    logLevel: 'off',
  };
  const gateway = new Gateway(options);
  return {
    isEmulator: true,
    baseURL: server.url,
    interval: 1_500,
    free: gateway,
    client(call) {
      const { id, fault: name, operation, strict } = call.view;
      const fault = faultOf(name ?? '');
      const { times } = call;
      if (fault !== undefined) {
        const when = ({ headers }: { headers: Readonly<Record<string, string>> }): boolean =>
          headers[callHeader] === id;
        emulator.fail({ operation, fault, times, when });
      }
      return gateway.withOptions({
        defaultHeaders: { [callHeader]: id },
        ...(strict === true ? { retryUnknownOutcome: false } : {}),
      });
    },
    attempts: (id) => attemptsOf(emulator, id),
    books() {
      const { charges, clock } = emulator;
      const kept = charges.filter(({ refundedAt }) => refundedAt === undefined);
      const sum = (list: typeof charges): number =>
        list.reduce((total, { amount }) => total + amount, 0);
      return {
        charges: charges.length,
        amount: sum(kept),
        refunded: sum(charges) - sum(kept),
        clock: { held: clock.held, speed: clock.speed },
      };
    },
    steerClock({ hold, advance, speed }) {
      const { clock } = emulator;
      if (hold === true) clock.hold();
      if (hold === false) clock.release();
      if (typeof speed === 'number') clock.speed = speed;
      if (typeof advance === 'number') clock.advance(advance);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await emulator[Symbol.asyncDispose]();
    },
  };
}
