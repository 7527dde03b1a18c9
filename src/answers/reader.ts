import * as z from 'zod/mini';
import type { JsonObject, ResponseIssue } from '../types.ts';
import { type Accepts, compileAccepts } from './accepts.ts';
import { isObject } from './objects.ts';
import type { ReadCheck } from './read-check.ts';
import type { SchemaOf, Wire } from './wire.ts';

/** How an answer becomes a `T`. */
export interface Reader<T> {
  /** What is checked. It accepts missing fields, `null` and unknown words of enumerations. */
  readonly schema: SchemaOf<Wire<T> | null | undefined>;
  /**
   * Changes the checked object in place until it is a `T`: fills what is missing, renames what is
   * spelled differently. It never drops or alters data.
   */
  readonly repair?: ((value: JsonObject) => void) | undefined;
  /** What an answer is called, and whether anything of it is in an object. */
  readonly answer?: { readonly name: string; readonly isIn: (value: JsonObject) => boolean };
  /** Parses the text of an answer, or throws; `JSON.parse` when left out. */
  readonly parse?: ((text: string) => unknown) | undefined;
  /** Whether values that are no objects are accepted too. */
  readonly takesAnyValue?: true | undefined;
}

/**
 * An answer is not of the promised shape: no object at all, or different in strict mode. Whoever
 * reads answers turns it into an `UnexpectedResponseError`.
 */
export class ShapeMismatch extends Error {
  /** What differs. */
  readonly issues: readonly ResponseIssue[];

  constructor(issues: readonly ResponseIssue[]) {
    super(issues.map(describeIssue).join(' '));
    this.name = 'ShapeMismatch';
    this.issues = issues;
  }
}

const compiled = new WeakMap<SchemaOf<unknown>, Accepts>();

function acceptsOf(schema: SchemaOf<unknown>): Accepts {
  let accepts = compiled.get(schema);
  if (accepts === undefined) {
    accepts = schema instanceof z.ZodMiniType ? compileAccepts(schema) : () => true;
    compiled.set(schema, accepts);
  }
  return accepts;
}

/**
 * Reads a parsed answer: checks what was received, reports each difference, then repairs it.
 *
 * The value itself is returned, changed in place, so that no field is ever lost.
 *
 * @throws `ShapeMismatch` when the value is not an object, and in strict mode when anything differs.
 */
export function readValue<T>(value: unknown, reader: Reader<T>, check: ReadCheck): T {
  if (!isObject(value)) {
    if (reader.takesAnyValue === true) {
      trust(value, reader);
      return value;
    }
    throw new ShapeMismatch([{ path: '', expected: 'object', received: typeName(value) }]);
  }
  if (check.validation !== 'off' && !acceptsOf(reader.schema)(value)) {
    const issues = findIssues(reader.schema, value);
    for (const issue of issues) check.onIssue(issue);
    if (check.validation === 'strict' && issues.length > 0) throw new ShapeMismatch(issues);
  }
  reader.repair?.(value);
  trust(value, reader);
  return value;
}

/** Takes values for what their sender, a program of the caller's own, says they are. */
export function uncheckedReader<T>(): Reader<T> {
  return { schema: z.any(), takesAnyValue: true };
}

/**
 * The one place where what came over the wire becomes a typed value without proof.
 *
 * The schema has looked at the fields that are read or promised, and `repair` has filled the rest;
 * but in tolerant mode a field of a wrong type stays as it came, because losing an answer that is
 * paid for would be worse. `onDrift` reports it.
 */
function trust<T>(_value: unknown, _reader: Reader<T>): asserts _value is T {}

function describeIssue({ path, expected, received }: ResponseIssue): string {
  return `${path === '' ? 'The answer' : path} should be ${expected}, but is ${received}.`;
}

/** Every place where `value` differs from `schema`. */
function findIssues(schema: SchemaOf<unknown>, value: unknown): ResponseIssue[] {
  const result = schema instanceof z.ZodMiniType ? z.safeParse(schema, value) : undefined;
  if (result === undefined || result.success) return [];
  return result.error.issues.map((issue) => ({
    path: formatPath(issue.path),
    expected: expectedOf(issue),
    received: typeName(valueAt(value, issue.path)),
  }));
}

/** For example `choices[0].message.content`. */
function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
}

function expectedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected;
  if (issue.code === 'invalid_value') return issue.values.map(String).join(' or ');
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_union') {
    const options = issue.errors.flatMap((errors) => errors.slice(0, 1).map(expectedOf));
    return [...new Set(options)].join(' or ');
  }
  return issue.code;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (Array.isArray(current) && typeof key === 'number') current = current[key];
    else if (isObject(current) && typeof key === 'string') current = current[key];
    else return undefined;
  }
  return current;
}

/** The name of a type as JSON knows it; never the value. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
