import { isObject } from '../../answers/objects.ts';
import { endpoints } from '../../endpoints.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { Fault, FaultRule } from '../faults/faults.ts';
import { defaultQuirks } from '../faults/quirks.ts';

/** All types of faults; missing ones do not compile. */
const faultTypes: Readonly<Record<Fault['type'], true>> = {
  reset: true,
  hang: true,
  slow: true,
  error: true,
  'error-in-200': true,
  'vendor-refusal': true,
  html: true,
  bare: true,
  'rate-limit': true,
  redirect: true,
  cut: true,
  stall: true,
  drip: true,
  empty: true,
  'stall-events': true,
  'cut-events': true,
  'no-finish': true,
  'stream-error': true,
  'garbled-event': true,
  'other-mode': true,
  'task-not-exist': true,
  'status-word': true,
  'expired-content': true,
};

function checkName(field: string, name: unknown, known: object): void {
  if (typeof name === 'string' && Object.hasOwn(known, name)) return;
  const names = Object.keys(known).join(', ');
  throw new InvalidInputError(field, `"${String(name)}" is not known; use one of ${names}.`);
}

/** Throws for an unknown operation, because its fault or response would never be used. */
export function checkOperation(operation: unknown): void {
  if (operation !== '*') checkName('operation', operation, endpoints);
}

const modelAnswerFields = { text: 0, reasoning: 0, toolCalls: 0, finishReason: 0 };

/** Throws for output that no model can send for the operation. */
export function checkModelAnswer(operation: string, answer: unknown): void {
  if (typeof answer === 'function') return;
  if (!isObject(answer)) {
    const fix = 'pass a function that returns a Response, or what the model answers.';
    throw new InvalidInputError('respond', `is not an answer; ${fix}`);
  }
  if (!/^(chat\.completions\.create|generate\.content(Stream)?)$/.test(operation)) {
    const fix = 'pass a function that returns a Response.';
    throw new InvalidInputError('respond', `of ${operation} is not a text of a model; ${fix}`);
  }
  for (const name of Object.keys(answer)) checkName('respond', name, modelAnswerFields);
}

/** Throws for an unknown fault, because a test with an ineffective fault could pass by mistake. */
export function checkRule(rule: FaultRule): void {
  const { fault, operation = '*' }: Partial<FaultRule> = rule;
  checkName('fault.type', fault?.type, faultTypes);
  for (const name of [operation].flat()) checkOperation(name);
}

/** Throws for unknown quirks. */
export function checkQuirks(quirks: object | undefined): void {
  for (const name of Object.keys(quirks ?? {})) checkName('quirks', name, defaultQuirks);
}
