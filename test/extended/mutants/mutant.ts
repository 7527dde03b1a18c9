/** A decision and the wrong one that takes its place. */
export interface Mutant {
  /** Source text that occurs once in its file. */
  readonly is: string;
  readonly becomes: string;
}

/** Mutants by the path of their file below `src`. */
export type MutantsByFile = Readonly<Record<string, readonly Mutant[]>>;
