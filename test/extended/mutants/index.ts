import { answerMutants } from './answers.ts';
import { fallbackMutants } from './fallback.ts';
import { httpMutants } from './http.ts';
import { limitMutants } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { streamMutants } from './streams.ts';
import { videoMutants } from './videos.ts';

export interface SourceMutant extends Mutant {
  /** The path of the file below `src`. */
  readonly file: string;
}

export const mutants: readonly SourceMutant[] = [
  httpMutants,
  streamMutants,
  videoMutants,
  answerMutants,
  limitMutants,
  fallbackMutants,
]
  .flatMap((byFile) => Object.entries(byFile))
  .flatMap(([file, list]) => list.map((mutant) => ({ file, ...mutant })));
