import { bundlePart } from './bundle.ts';
import { callsPart } from './calls.ts';
import { chunksPart } from './chunks.ts';
import { cliPart } from './cli.ts';
import { embeddingsPart } from './embeddings.ts';
import { importPart } from './import.ts';
import { installPart } from './install.ts';
import { ledgersPart } from './ledgers.ts';
import type { Part } from './lib/metric.ts';
import { pagePart } from './page.ts';
import { providerPart } from './provider.ts';
import { responseChunksPart } from './response-chunks.ts';
import { streamsPart } from './streams.ts';
import { typesPart } from './types.ts';
import { uploadPart } from './upload.ts';
import { waitsPart } from './waits.ts';

/** All parts, in the order of the table. */
export const parts: readonly Part[] = [
  bundlePart,
  pagePart,
  importPart,
  callsPart,
  providerPart,
  chunksPart,
  responseChunksPart,
  embeddingsPart,
  uploadPart,
  streamsPart,
  waitsPart,
  typesPart,
  installPart,
  cliPart,
  ledgersPart,
];
