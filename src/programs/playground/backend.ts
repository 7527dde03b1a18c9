import { Gateway, type GatewayOptions } from '../../index.ts';
import { createEmulator, type Emulator } from '../../testing/index.ts';
import { unitsPerDollar } from '../../testing/server/call.ts';
import { findFault } from './scenarios.ts';
import type { LiveCall } from './live-call.ts';
import type { Attempt, EmulatorAccount } from './protocol.ts';

/** The header with the id of the call. Only the emulator receives it. */
const callHeader = 'x-playground-call';

/** The gateway that calls go to. */
export interface Backend extends AsyncDisposable {
  readonly isEmulator: boolean;
  readonly baseURL: string;
  /** The kind of gateway; `undefined` for new-api, the default. */
  readonly gateway?: string | undefined;
  /** Credit units in one US dollar; `undefined` on a real gateway. */
  readonly unitsPerDollar?: number | undefined;
  /** Time between polls of a video, in milliseconds; `undefined` for the client's default. */
  readonly interval: number | undefined;
  /** Creates the client of a call. On the emulator, also sets up the call's fault. */
  client(call: LiveCall): Gateway;
  /** The client for free calls. */
  readonly free: Gateway;
  /** Returns the requests of a call with their charges; `undefined` on a real gateway. */
  attempts(id: string): readonly Attempt[] | undefined;
  /** The account of the emulator; empty on a real gateway. */
  account(): EmulatorAccount;
  setClock(change: ClockChange): void;
}

/** A change of the emulator's clock. */
interface ClockChange {
  readonly hold?: unknown;
  readonly advance?: unknown;
  readonly speed?: unknown;
}

const emptyAccount: EmulatorAccount = {
  charges: 0,
  amount: 0,
  refunded: 0,
  clock: { held: false, speed: 1 },
};

/** A real gateway, whose calls are charged. */
export function realBackend(options: GatewayOptions, interval?: number): Backend {
  const gateway = new Gateway(options);
  const name = gateway.transport().gateway?.profile.name;
  return {
    isEmulator: false,
    baseURL: gateway.toJSON().baseURL,
    gateway: name === 'new-api' ? undefined : name,
    interval,
    free: gateway,
    client: ({ view: { strict } }) =>
      strict === true ? gateway.withOptions({ retryUnknownOutcome: false }) : gateway,
    attempts: () => undefined,
    account: () => emptyAccount,
    setClock() {},
    async [Symbol.asyncDispose]() {},
  };
}

function attemptsFor({ requests, charges }: Emulator, id: string): Attempt[] {
  return requests
    .filter(({ headers, method }) => headers[callHeader] === id && method === 'POST')
    .map(({ id: requestId, method, path, status }) => {
      const charged = charges.filter((charge) => charge.requestId === requestId);
      return {
        method,
        path,
        status,
        charged: charged.reduce((sum, { amount }) => sum + amount, 0),
        refunded: charged.some(({ refundedAt }) => refundedAt !== undefined),
      };
    });
}

/** Starts an emulator on the loopback address. */
export async function emulatorBackend(interval = 1_500): Promise<Backend> {
  const emulator = createEmulator({ videoDuration: 12_000, quirks: { eventDelay: 20 } });
  const server = await emulator.listen();
  const options: GatewayOptions = {
    baseURL: server.url,
    apiKey: emulator.apiKey,
    // Short time limits, so that faults show their result within seconds.
    timeout: 6_000,
    idleTimeout: 3_000,
    firstByteTimeout: 6_000,
    logLevel: 'off',
  };
  const gateway = new Gateway(options);
  return {
    isEmulator: true,
    baseURL: server.url,
    unitsPerDollar,
    interval,
    free: gateway,
    client(call) {
      const { id, fault: name, operation, strict } = call.view;
      const fault = findFault(name ?? '');
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
    attempts: (id) => attemptsFor(emulator, id),
    account() {
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
    setClock({ hold, advance, speed }) {
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
