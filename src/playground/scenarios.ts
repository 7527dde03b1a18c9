import type { Fault } from '../testing/index.ts';
import type { CallKind, Scenario } from './protocol.ts';

interface FaultScenario extends Scenario {
  readonly fault: Fault;
}

const jobs: readonly CallKind[] = ['image', 'video'];
const all: readonly CallKind[] = ['image', 'video', 'chat', 'speech', 'translation', 'embeddings'];

/** The ways to fail that the page offers, the most telling first. */
export const scenarios: readonly FaultScenario[] = [
  {
    name: 'cut-after-charge',
    label: 'Cut after the charge',
    what: 'The work is done and charged, and the connection is lost before the answer.',
    kinds: all,
    fault: { type: 'reset', when: 'after-charge' },
  },
  {
    name: 'page-502',
    label: '502 after the charge',
    what: 'The work is done and charged; a proxy gave up waiting and answers with its own page.',
    kinds: all,
    fault: { type: 'html', status: 502, charged: true },
  },
  {
    name: 'silence',
    label: 'No answer',
    what: 'The work is done and charged, and no answer ever comes.',
    kinds: all,
    fault: { type: 'hang', charged: true },
  },
  {
    name: 'status-499',
    label: '499 after the charge',
    what: 'The gateway takes the client for gone, answers 499, and keeps the charge.',
    kinds: all,
    fault: { type: 'error', status: 499, charged: true },
  },
  {
    name: 'error-in-200',
    label: 'An error in a 200',
    what: 'The status says success, and the body says that the provider failed.',
    kinds: all,
    fault: { type: 'error-in-200' },
  },
  {
    name: 'half-answer',
    label: 'Half an answer',
    what: 'The answer begins, and the connection is lost in the middle of it.',
    kinds: [...jobs, 'speech', 'embeddings'],
    fault: { type: 'cut', bytes: 120 },
  },
  {
    name: 'cut-stream',
    label: 'A cut stream',
    what: 'The connection is lost after some words.',
    kinds: ['chat'],
    fault: { type: 'cut-events', after: 8 },
  },
  {
    name: 'stalled-stream',
    label: 'A stalled stream',
    what: 'After some words nothing more comes, and the connection stays open.',
    kinds: ['chat'],
    fault: { type: 'stall-events', after: 8 },
  },
  {
    name: 'no-finish',
    label: 'A stream without its end',
    what: 'The stream ends in the middle as if all were well: [DONE], and no finish reason.',
    kinds: ['chat'],
    fault: { type: 'no-finish', after: 8, done: true },
  },
  {
    name: 'cut-before-charge',
    label: 'Cut before the charge',
    what: 'The connection is lost after the request, before any work. The client cannot know that.',
    kinds: all,
    fault: { type: 'reset', when: 'before-charge' },
  },
  {
    name: 'rate-limit',
    label: '429, come back later',
    what: 'The gateway refuses before any work and says when to come back: safe to repeat.',
    kinds: all,
    fault: { type: 'rate-limit', retryAfter: 1 },
  },
];

/** The fault of a scenario. */
export function faultOf(name: string): Fault | undefined {
  return scenarios.find((scenario) => scenario.name === name)?.fault;
}

/** The scenarios without what only the server needs. */
export function describeScenarios(): Scenario[] {
  return scenarios.map(({ name, label, what, kinds }) => ({ name, label, what, kinds }));
}
