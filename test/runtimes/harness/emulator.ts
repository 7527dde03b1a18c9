import { Gateway, type GatewayOptions } from 'model-gateway';
import type { World } from './world.ts';

/** A request as the emulator reports it over HTTP. */
export interface SeenRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly operation?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasKey: boolean;
  readonly status?: number;
  readonly disconnected: boolean;
  readonly body: {
    readonly kind: string;
    readonly value?: unknown;
    readonly fields?: Readonly<Record<string, unknown>>;
    readonly files?: readonly {
      readonly field: string;
      readonly filename: string;
      readonly type: string;
      readonly size: number;
    }[];
  };
}

/** A preflight as the emulator reports it. */
export interface SeenPreflight {
  readonly path: string;
  readonly method: string;
  readonly headers: readonly string[];
}

/** Steers an emulator in another process, in every runtime alike. */
export class Remote {
  readonly #root: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(world: World) {
    this.#root = `${world.emulator}/__emulator`;
    this.#headers = { authorization: `Bearer ${world.apiKey}` };
  }

  reset(): Promise<unknown> {
    return this.#post('reset', {});
  }

  fail(fault: object, rule: object = {}): Promise<unknown> {
    return this.#post('faults', { ...rule, fault });
  }

  quirks(quirks: object): Promise<unknown> {
    return this.#post('quirks', quirks);
  }

  clock(order: object): Promise<unknown> {
    return this.#post('clock', order);
  }

  async charges(): Promise<number> {
    return (await this.#get<unknown[]>('charges')).length;
  }

  requests(): Promise<readonly SeenRequest[]> {
    return this.#get('requests');
  }

  preflights(): Promise<readonly SeenPreflight[]> {
    return this.#get('preflights');
  }

  async #get<Value>(path: string): Promise<Value> {
    return (await fetch(`${this.#root}/${path}`, { headers: this.#headers })).json();
  }

  async #post(path: string, order: object): Promise<unknown> {
    const response = await fetch(`${this.#root}/${path}`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify(order),
    });
    if (!response.ok) throw new Error(`The emulator refused: ${await response.text()}`);
    return response.json();
  }
}

/** An emulator without history, and a client for it. */
export async function fresh(
  world: World,
  options: GatewayOptions = {},
): Promise<{ readonly client: Gateway; readonly remote: Remote }> {
  const remote = new Remote(world);
  await remote.reset();
  return { client: clientFor(world, options), remote };
}

/** A client. Its key is a function, because browsers refuse a plain one. */
export function clientFor(world: World, options: GatewayOptions = {}): Gateway {
  const apiKey = (): Promise<string> => Promise.resolve(world.apiKey);
  return new Gateway({ baseURL: world.emulator, apiKey, logLevel: 'off', ...options });
}
