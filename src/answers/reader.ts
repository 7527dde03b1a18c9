/**
 * Converts the JSON of responses to the documented types.
 *
 * Each kind of response has a `ResponseSchema`, whose table of fields mirrors the response. `readValue`
 * compares a parsed response with its table: any field may be missing or `null`; any other type than the
 * table's is drift. Drift is reported, and is an error with strict validation. Then `normalize` fills in
 * missing fields and renames variants, in place. Unknown fields are kept, and so is the value of a field with
 * the wrong type, because losing a paid response would be worse.
 */

import type { JsonObject, ResponseIssue } from '../types.ts';
import { isObject } from './objects.ts';

type TypeName = 'string' | 'number' | 'boolean' | 'object' | 'array';

/** The name of a type, or of two types if gateways send another one than the documented type. */
type OneOf<Name extends TypeName> = Name | `${Name} or ${TypeName}` | `${TypeName} or ${Name}`;

/** Returns the expected type of an invalid value, or `undefined` for a valid one. */
type Expectation = (value: unknown) => string | undefined;

/** The allowed values of a field: a type, the values that a function accepts, a list, or an object. */
type Kind = 'any' | OneOf<TypeName> | Expectation | [Kind] | Fields;

/** The kinds of the fields of an object. */
export interface Fields {
  readonly [name: string]: Kind;
}

/** The kinds that match the type `Value`. */
type KindOf<Value> =
  | 'any'
  | Expectation
  | (Value extends string
      ? OneOf<'string'>
      : Value extends number
        ? OneOf<'number'>
        : Value extends boolean
          ? 'boolean'
          : Value extends readonly (infer Item)[]
            ? 'array' | [KindOf<Item>]
            : OneOf<'object'> | FieldsOf<Value>);

/**
 * The table of fields for the type `T`. With `satisfies`, missing, extra and mistyped fields are compile
 * errors, so that tables stay in sync with the types.
 */
export type FieldsOf<T> = {
  readonly [Key in keyof T as Exclude<Key & string, '_request_id' | '_ledger_error'>]-?: KindOf<
    NonNullable<T[Key]>
  >;
};

type ReportIssue = (issue: ResponseIssue) => void;

/** The reason a result is not usable. */
export interface Fault {
  /** The end of a sentence about the response. */
  readonly problem: string;
  readonly issues?: readonly ResponseIssue[];
}

export interface ResponseSchema<T> {
  readonly fields: Fields & Partial<FieldsOf<T>>;
  /** Compares fields that no table can describe. */
  readonly compare?: ((value: JsonObject, report: ReportIssue) => void) | undefined;
  /** Converts an object to `T` in place. Never drops or alters data. */
  readonly normalize?: ((value: JsonObject) => void) | undefined;
  /** Moves the result to its documented fields if a gateway put it elsewhere. Returns other values unchanged. */
  readonly locate?: ((value: unknown) => unknown) | undefined;
  /** The name of the result, and a test for its presence in an object. */
  readonly result?: { readonly name: string; readonly isIn: (value: JsonObject) => boolean };
  /**
   * Returns the reason a normalized result is not usable; `undefined` if there is none. The error has the result in `data`, because it was paid for.
   */
  fault?(value: T): Fault | undefined;
  /** Parses the text of a response, or throws. Default: `JSON.parse`. */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** The validation mode, and the listener for differences. */
export interface ReadCheck {
  readonly validation: 'tolerant' | 'strict' | 'off';
  readonly onIssue: ReportIssue;
}

/** Reads values that were checked already, or that this package made. */
export const unchecked: ReadCheck = { validation: 'off', onIssue: () => {} };

/**
 * A response does not have the documented type: it isn't an object, or it differs in strict mode. Converted
 * to an `UnexpectedResponseError`.
 */
export class ShapeMismatch extends Error {
  /** The differences. */
  readonly issues: readonly ResponseIssue[];

  constructor(issues: readonly ResponseIssue[]) {
    super(issues.map(describeIssue).join(' '));
    this.name = 'ShapeMismatch';
    this.issues = issues;
  }
}

function describeIssue({ path, expected, received }: ResponseIssue): string {
  return `${path === '' ? 'The response' : path} should be ${expected}, but is ${received}.`;
}

/**
 * Reads a parsed response: validates it, reports each difference, then normalizes it in place.
 *
 * @throws `ShapeMismatch` if the value is not an object, or in strict mode if anything differs
 */
export function readValue<T>(value: unknown, schema: ResponseSchema<T>, check: ReadCheck): T {
  const issues: ResponseIssue[] = [];
  const report: ReportIssue = (issue) => issues.push(issue);
  if (!isObject(value)) {
    compare(value, 'object', '', report);
    throw new ShapeMismatch(issues);
  }
  if (check.validation !== 'off') {
    compareFields(value, schema.fields, '', report);
    schema.compare?.(value, report);
    issues.forEach(check.onIssue);
    if (check.validation === 'strict' && issues.length > 0) throw new ShapeMismatch(issues);
  }
  return normalizeValue(value, schema);
}

/** Normalizes an object in place without validating it. */
export function normalizeValue<T>(value: JsonObject, schema: ResponseSchema<T>): T {
  schema.normalize?.(value);
  trust(value, schema);
  return value;
}

/** The only place where received data gets a type without proof. */
export function trust<T>(_value: unknown, _schema: ResponseSchema<T>): asserts _value is T {}

function compareFields(value: JsonObject, fields: Fields, path: string, report: ReportIssue): void {
  // Iterates over the value, because a chunk has far fewer fields than most tables.
  for (const name in value) {
    const field = value[name];
    const kind = fields[name];
    if (kind === undefined || field === null || field === undefined) continue;
    // Most fields are valid text or numbers; `typeof` is the same for lists and objects.
    if (kind === typeof field && kind !== 'object') continue;
    // Inherited names such as `constructor` are not fields of a table.
    if (!Object.hasOwn(fields, name)) continue;
    compare(field, kind, path === '' ? name : `${path}.${name}`, report);
  }
}

function compare(value: unknown, kind: Kind, path: string, report: ReportIssue): void {
  let expected: string | undefined;
  if (typeof kind === 'string') {
    if (kind !== 'any' && !kind.includes(typeName(value))) expected = kind;
  } else if (typeof kind === 'function') {
    expected = kind(value);
  } else if (Array.isArray(kind)) {
    const [item] = kind;
    if (!Array.isArray(value)) expected = 'array';
    else
      for (let index = 0; index < value.length; index++)
        compare(value[index], item, `${path}[${index}]`, report);
  } else if (isObject(value)) {
    compareFields(value, kind, path, report);
  } else {
    expected = 'object';
  }
  if (expected !== undefined) report({ path, expected, received: typeName(value) });
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Accepts a number, or a number as text, as some gateways send Unix seconds. */
export function numeric(value: unknown): string | undefined {
  const isText = typeof value === 'string' && Number.isFinite(Number(value));
  return isText || typeof value === 'number' ? undefined : 'number';
}

/** A response that differs from what this client expects. See `onDrift`. */
export interface Drift extends ResponseIssue {
  /** The operation, for example `chat.completions.create`. */
  readonly operation: string;
}

interface DriftLog {
  write(level: 'info' | 'error', message: string, details: Readonly<Record<string, string>>): void;
}

/** Limits distinct reports, because more would add no information. */
const maxReports = 1_000;

/** Reports each difference between a response and its schema once per client. */
export class DriftReporter {
  readonly #onDrift: ((drift: Drift) => void) | undefined;
  readonly #log: DriftLog;
  readonly #seen = new Set<string>();

  constructor(onDrift: ((drift: Drift) => void) | undefined, log: DriftLog) {
    this.#onDrift = onDrift;
    this.#log = log;
  }

  report(operation: string, issue: ResponseIssue): void {
    // List positions are removed, or a list of a thousand items would cause a thousand reports.
    const path = issue.path.replace(/\[\d+\]/g, '[]');
    const key = `${operation} ${path} ${issue.expected} ${issue.received}`;
    if (this.#seen.has(key) || this.#seen.size >= maxReports) return;
    this.#seen.add(key);
    const drift: Drift = { operation, ...issue };
    this.#log.write('info', 'The response differs from what was expected', { ...drift });
    const onError = (): void => this.#log.write('error', 'onDrift threw an error', { operation });
    try {
      const result: unknown = this.#onDrift?.(drift);
      // `onDrift` may be async, and its rejection would end a Node process.
      if (result instanceof Promise) result.catch(onError);
    } catch {
      onError();
    }
  }
}
