import type { OutputIssue } from './types.ts';

/** A text that is not JSON, or JSON that does not fit its schema. */
export class SchemaMismatch extends Error {
  readonly issues: readonly OutputIssue[];

  constructor(message: string, issues: readonly OutputIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

/**
 * The JSON in an answer, or in the beginning of one: without the thoughts and the code fence that some
 * models put around it.
 */
export function jsonIn(text: string): string {
  const answer = text.replace(/^\s*<think>[\s\S]*?(?:<\/think>|$)/, '');
  const inside = answer.replace(/^\s*```\w*\s*/, '');
  return inside === answer
    ? answer
    : inside
        .trimEnd()
        .replace(/`{1,3}$/, '')
        .trimEnd();
}

/** Parses JSON. */
export function parseJSONText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(jsonIn(text));
    return value;
  } catch {
    throw new SchemaMismatch('it is not valid JSON');
  }
}
