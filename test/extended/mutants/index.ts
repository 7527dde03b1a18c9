import { accountMutants } from './account.ts';
import { answerMutants } from './answers.ts';
import { fallbackMutants } from './fallback.ts';
import { httpMutants } from './http.ts';
import { imageMutants } from './images.ts';
import { limitMutants } from './limits.ts';
import { mediaMutants } from './media.ts';
import type { Mutant } from './mutant.ts';
import { nodeMutants } from './node.ts';
import { responseMutants } from './responses.ts';
import { streamMutants } from './streams.ts';
import { structuredMutants } from './structured.ts';
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
  accountMutants,
  imageMutants,
  nodeMutants,
  mediaMutants,
  responseMutants,
  structuredMutants,
]
  .flatMap((byFile) => Object.entries(byFile))
  .flatMap(([file, list]) => list.map((mutant) => ({ file, ...mutant })));
