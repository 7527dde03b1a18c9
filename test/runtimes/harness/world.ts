/** The kinds of runtime that differ in what they can do. */
export type Family = 'node' | 'bun' | 'deno' | 'workerd' | Engine;

/** The engines of browsers. */
export type Engine = 'chromium' | 'firefox' | 'webkit';

/** Addresses and keys for a runtime. Plain JSON. */
export interface World {
  /** For example `node-24`. */
  readonly runtime: string;
  readonly family: Family;
  /** 0, 1 or 2 to run that third of the checks alone. */
  readonly third?: number | undefined;
  /** The root of an emulator that this runtime has for itself. */
  readonly emulator: string;
  readonly apiKey: string;
  /** The address of each fault, by its name. */
  readonly faults: Readonly<Record<string, string>>;
  /** The root of a gateway that fails in the way that the model is called, and these ways. */
  readonly faulty: { readonly url: string; readonly models: readonly string[] };
  /**
   * Answers `GET /open` with how many answers of `faulty` are still open, and `GET /hits?fault=…` with what a
   * fault server has seen since the last question; `GET /relay` with a chat as lines of JSON.
   */
  readonly control: string;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runtimes in which the checks run in a page. */
export const engines: readonly Family[] = ['chromium', 'firefox', 'webkit'];

const families: readonly Family[] = ['node', 'bun', 'deno', 'workerd', ...engines];

export const isPage = ({ family }: Pick<World, 'family'>): boolean => engines.includes(family);

/** Reads what the runner passed on. */
export function readWorld(text: string): World {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new TypeError('The world is not an object');
  const { runtime, emulator, apiKey, control, faults, faulty } = value;
  const family = families.find((known) => known === value['family']);
  if (family === undefined || !isRecord(faults) || !isRecord(faulty))
    throw new TypeError('The world is not whole');
  return {
    runtime: String(runtime),
    family,
    third: typeof value['third'] === 'number' ? value['third'] : undefined,
    emulator: String(emulator),
    apiKey: String(apiKey),
    control: String(control),
    faulty: { url: String(faulty['url']), models: [faulty['models']].flat().map(String) },
    faults: Object.fromEntries(
      Object.entries(faults).map(([name, address]) => [name, String(address)]),
    ),
  };
}
