import { isObject } from '../../answers/objects.ts';
import { endpoints } from '../../endpoints.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { Fault, FaultRule } from '../faults/faults.ts';
import { defaultQuirks } from '../faults/quirks.ts';

/** The fields that each type of fault needs; missing types do not compile. */
const neededFields: {
  readonly [Type in Fault['type']]: readonly (keyof Extract<Fault, { readonly type: Type }>)[];
} = {
  reset: ['when'],
  hang: [],
  slow: ['milliseconds'],
  error: ['status'],
  'error-in-200': [],
  'vendor-refusal': ['status'],
  html: ['status'],
  bare: ['status'],
  'rate-limit': ['retryAfter'],
  redirect: [],
  cut: ['bytes'],
  stall: ['bytes'],
  drip: ['milliseconds'],
  empty: [],
  'stall-events': ['after'],
  'cut-events': ['after'],
  'no-finish': ['done'],
  'stream-error': ['after', 'shape'],
  'garbled-event': ['after'],
  'other-mode': [],
  'task-not-exist': [],
  'status-word': ['word'],
  'expired-content': [],
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

/** Throws for an unknown or incomplete fault, because a test with an ineffective fault could pass by mistake. */
export function checkRule(rule: FaultRule): void {
  const { fault, operation = '*' }: Partial<FaultRule> = rule;
  checkName('fault.type', fault?.type, neededFields);
  const fields: object = fault ?? {};
  const missing = fault && neededFields[fault.type].find((name) => !Object.hasOwn(fields, name));
  if (missing !== undefined) {
    throw new InvalidInputError(
      `fault.${missing}`,
      `is missing; a fault "${fault?.type}" needs it.`,
    );
  }
  for (const name of [operation].flat()) checkOperation(name);
}

/** Throws for unknown quirks. */
export function checkQuirks(quirks: object | undefined): void {
  for (const name of Object.keys(quirks ?? {})) checkName('quirks', name, defaultQuirks);
}
