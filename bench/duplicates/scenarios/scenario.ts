/** The result of a scenario. */
export interface Counts {
  /** Paid requests that the service received completely. */
  readonly requests: number;
  readonly charges: number;
  /** Other observations by name. */
  readonly notes: Readonly<Record<string, string | number>>;
}

/** A situation that may cost money twice, or more than was allowed. */
export interface Scenario {
  readonly id: string;
  readonly label: string;
  readonly ours: () => Promise<Counts>;
  /** Other packages with an equivalent, by name. */
  readonly peers?: Readonly<Record<string, () => Promise<Counts>>>;
  /** The result that this client promises, for the table. */
  readonly promise: string;
  readonly isKept: (counts: Counts) => boolean;
}

/** Names the end of a promise: `returned`, or the class of its error and its outcome. */
export async function describeEnd(promise: PromiseLike<unknown>): Promise<string> {
  try {
    await promise;
    return 'returned';
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    const outcome = 'outcome' in error ? `, ${String(error.outcome)}` : '';
    return `${error.constructor.name}${outcome}`;
  }
}
