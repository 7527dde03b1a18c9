import type { Project } from './project.ts';

/** One way to use the package that has to work. */
export interface Case {
  readonly name: string;
  /** @returns a measurement to show beside the result, or nothing. */
  run(project: Project): Promise<string | undefined | void>;
}
