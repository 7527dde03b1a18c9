import { bundlePart } from './bundle/part.ts';
import { callsPart } from './calls/part.ts';
import { chunksPart } from './chunks/part.ts';
import { cliPart } from './cli/part.ts';
import { concurrencyPart } from './concurrency/part.ts';
import { embeddingsPart } from './embeddings/part.ts';
import { importPart } from './import/part.ts';
import { installPart } from './install/part.ts';
import { ledgersPart } from './ledgers/part.ts';
import type { Part } from './lib/metric.ts';
import { waitsPart } from './memory/part.ts';
import { pagePart } from './page/part.ts';
import { typesPart } from './types/part.ts';
import { uploadPart } from './upload/part.ts';

/** All parts, in the order of the table. */
export const parts: readonly Part[] = [
  bundlePart,
  pagePart,
  importPart,
  callsPart,
  chunksPart,
  embeddingsPart,
  uploadPart,
  concurrencyPart,
  waitsPart,
  typesPart,
  installPart,
  cliPart,
  ledgersPart,
];
