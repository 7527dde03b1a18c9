import type { Check } from '../harness/check.ts';
import { abortChecks } from './aborts.ts';
import { browserChecks } from './browser.ts';
import { connectionChecks } from './connections.ts';
import { errorChecks } from './errors.ts';
import { evidenceChecks } from './evidence.ts';
import { faultChecks } from './faults.ts';
import { operationChecks } from './operations.ts';
import { streamChecks } from './streams.ts';
import { unhandledRejectionChecks } from './unhandled-rejections.ts';
import { uploadChecks } from './uploads.ts';

/** The suite. Every runtime runs the same one. */
export const checks: readonly Check[] = [
  ...operationChecks,
  ...faultChecks,
  ...streamChecks,
  ...unhandledRejectionChecks,
  ...abortChecks,
  ...uploadChecks,
  ...errorChecks,
  ...evidenceChecks,
  ...connectionChecks,
  ...browserChecks,
];
