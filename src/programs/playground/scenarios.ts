import type { Fault } from '../../testing/index.ts';
import type { CallKind, Scenario } from './protocol.ts';

interface FaultScenario extends Scenario {
  readonly fault: Fault;
}

const jobs: readonly CallKind[] = ['image', 'video'];
/** All kinds of calls. */
export const callKinds: readonly CallKind[] = [
  'image',
  'video',
  'chat',
  'speech',
  'transcription',
  'translation',
  'embeddings',
];

/** The faults that the page offers, most instructive first. */
export const scenarios: readonly FaultScenario[] = [
  {
    name: 'cut-after-charge',
    label: 'Cut after the charge',
    description: 'The work is done and charged, and the connection is lost before the response.',
    kinds: callKinds,
    fault: { type: 'reset', when: 'after-charge' },
  },
  {
    name: 'page-502',
    label: '502 after the charge',
    description:
      'The work is done and charged; a proxy gives up waiting and responds with its own page.',
    kinds: callKinds,
    fault: { type: 'html', status: 502, charged: true },
  },
  {
    name: 'silence',
    label: 'No response',
    description: 'The work is done and charged, and no response ever arrives.',
    kinds: callKinds,
    fault: { type: 'hang', charged: true },
  },
  {
    name: 'status-499',
    label: '499 after the charge',
    description:
      'The gateway assumes that the client has disconnected, responds with 499, and keeps the charge.',
    kinds: callKinds,
    fault: { type: 'error', status: 499, charged: true },
  },
  {
    name: 'error-in-200',
    label: 'An error in a 200',
    description: 'The status is 200, but the body is the error of a provider.',
    kinds: callKinds,
    fault: { type: 'error-in-200' },
  },
  {
    name: 'half-answer',
    label: 'A cut response',
    description: 'The connection is lost in the middle of the response.',
    kinds: [...jobs, 'speech', 'embeddings'],
    fault: { type: 'cut', bytes: 120 },
  },
  {
    name: 'cut-stream',
    label: 'A cut stream',
    description: 'The connection is lost after some words.',
    kinds: ['chat'],
    fault: { type: 'cut-events', after: 8 },
  },
  {
    name: 'stalled-stream',
    label: 'A stalled stream',
    description: 'Nothing arrives after some words, but the connection stays open.',
    kinds: ['chat'],
    fault: { type: 'stall-events', after: 8 },
  },
  {
    name: 'no-finish',
    label: 'A stream without a finish reason',
    description: 'The stream ends early with [DONE], but without a finish reason.',
    kinds: ['chat'],
    fault: { type: 'no-finish', after: 8, done: true },
  },
  {
    name: 'cut-before-charge',
    label: 'Cut before the charge',
    description:
      'The connection is lost after the request and before any work, which the client cannot know.',
    kinds: callKinds,
    fault: { type: 'reset', when: 'before-charge' },
  },
  {
    name: 'rate-limit',
    label: '429 with Retry-After',
    description:
      'The gateway rejects the request before any work and says when to retry: safe to repeat.',
    kinds: callKinds,
    fault: { type: 'rate-limit', retryAfter: 1 },
  },
];

/** Returns the fault of a scenario. */
export function findFault(name: string): Fault | undefined {
  return scenarios.find((scenario) => scenario.name === name)?.fault;
}

/** Returns the scenarios for the page, without their faults. */
export function describeScenarios(): Scenario[] {
  return scenarios.map(({ name, label, description, kinds }) => ({
    name,
    label,
    description,
    kinds,
  }));
}
