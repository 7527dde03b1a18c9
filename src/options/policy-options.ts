/** A policy around the calls of a client, with the options that have an effect only with it. */
interface PolicyRow {
  readonly options: readonly string[];
  /** How a client of `createGateway()` gets the policy. */
  readonly advice?: string;
}

/**
 * The policies of this package and their options. The order is that around a call, the outermost first, whatever the
 * order in the list of the caller.
 */
export const policyTable = {
  spending: { options: ['budget'], advice: 'prices, so add account: Account to the resources' },
  log: { options: [] },
  observers: {
    options: ['observer', 'onRequest', 'onResponse'],
    advice: 'withObservers() in the policies',
  },
  'tracing-channel': { options: [] },
  limits: { options: ['limits'], advice: 'withLimits() in the policies' },
  fallback: {
    options: ['fallback', 'fallbackOn', 'onFallback'],
    advice: 'withFallback() in the policies',
  },
  'output-modes': { options: ['structuredOutput'], advice: 'withOutputModes() in the policies' },
} as const satisfies Readonly<Record<string, PolicyRow>>;

type Policies = typeof policyTable;

export type OptionOf<Name extends keyof Policies = keyof Policies> =
  Policies[Name]['options'][number];

const rows = Object.entries<PolicyRow>(policyTable);

/** Returns the place of a policy among others. Those of a caller are inside of those of this package. */
export function getPlace(name: string): number {
  const place = rows.findIndex(([known]) => known === name);
  return place === -1 ? rows.length : place;
}

/** Returns the options that no policy in the list has, each with the way to add its policy. */
export function listMissing(
  policies: readonly { readonly options: readonly string[] }[],
): ReadonlyMap<string, string> {
  const known = new Set(policies.flatMap(({ options }) => options));
  return new Map(
    rows.flatMap(([, { options, advice = '' }]) =>
      options
        .filter((option) => !known.has(option))
        .map((option): [string, string] => [option, advice]),
    ),
  );
}
