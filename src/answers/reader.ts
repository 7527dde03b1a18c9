/**
 * How the JSON of an answer becomes what the types promise.
 *
 * Each kind of answer has a `ResponseSchema`, whose table of fields looks like the answer itself.
 * `readValue` compares a parsed answer with its table: any field may be missing or `null`, and what
 * else is not of the kind that the table names is drift. Drift is reported, and with strict
 * validation it is an error. Then `normalize` fills in place what is missing and renames what is
 * spelled differently. Fields that no table knows stay, and a field of a wrong type stays as it came,
 * because losing an answer that is paid for would be worse.
 */
import type { Drift } from '../options.ts';
import type { JsonObject, ResponseIssue } from '../types.ts';
import { isObject } from './objects.ts';

type TypeName = 'string' | 'number' | 'boolean' | 'object' | 'array';

/** The name of a type, or of two, one of which is what this package promises. */
type OneOf<Name extends TypeName> = Name | `${Name} or ${TypeName}` | `${TypeName} or ${Name}`;

/** Says what was expected in place of a value, or `undefined` when the value will do. */
type Expectation = (value: unknown) => string | undefined;

/** What a field may hold: a type, whatever a function accepts, a list of a kind, or an object. */
type Kind = 'any' | OneOf<TypeName> | Expectation | [Kind] | Fields;

/** The kinds of the fields of an object. */
export interface Fields {
  readonly [name: string]: Kind;
}

/** The kinds that agree with the type `Value`. */
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
 * The table of fields for the type `T`. With `satisfies` it makes missing, extra and mistyped fields
 * compile errors, so that a table cannot drift from the documented type.
 */
export type FieldsOf<T> = {
  readonly [Key in keyof T as Exclude<Key & string, '_request_id'>]-?: KindOf<NonNullable<T[Key]>>;
};

type ReportIssue = (issue: ResponseIssue) => void;

export interface ResponseSchema<T> {
  readonly fields: Fields & Partial<FieldsOf<T>>;
  /** Compares what no table of fields can describe. */
  readonly compare?: ((value: JsonObject, report: ReportIssue) => void) | undefined;
  /** Changes an object in place until it is a `T`. It never drops or alters data. */
  readonly normalize?: ((value: JsonObject) => void) | undefined;
  /** What an answer is called, and whether anything of it is in an object. */
  readonly answer?: { readonly name: string; readonly isIn: (value: JsonObject) => boolean };
  /** Parses the text of an answer, or throws; `JSON.parse` when left out. */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** How strictly answers are read, and who is told of differences. */
export interface ReadCheck {
  readonly validation: 'tolerant' | 'strict' | 'off';
  readonly onIssue: ReportIssue;
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

function describeIssue({ path, expected, received }: ResponseIssue): string {
  return `${path === '' ? 'The answer' : path} should be ${expected}, but is ${received}.`;
}

/**
 * Reads a parsed answer: compares it, reports each difference, then normalizes it in place.
 *
 * @throws `ShapeMismatch` when the value is not an object, and in strict mode when anything differs.
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

/** Normalizes an object in place, and compares nothing. */
export function normalizeValue<T>(value: JsonObject, schema: ResponseSchema<T>): T {
  schema.normalize?.(value);
  trust(value, schema);
  return value;
}

/** The one place where what came over the wire becomes a typed value without proof. */
export function trust<T>(_value: unknown, _schema: ResponseSchema<T>): asserts _value is T {}

function compareFields(value: JsonObject, fields: Fields, path: string, report: ReportIssue): void {
  // Only the fields that are there are looked at: most tables know many more than a chunk has.
  for (const name in value) {
    const field = value[name];
    const kind = fields[name];
    if (kind === undefined || field === null || field === undefined) continue;
    // Most fields are text or numbers and fit; `typeof` calls lists objects.
    if (kind === typeof field && kind !== 'object') continue;
    // Every object has a `constructor` and the like, which are no fields of a table.
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
      for (let at = 0; at < value.length; at++) compare(value[at], item, `${path}[${at}]`, report);
  } else if (isObject(value)) {
    compareFields(value, kind, path, report);
  } else {
    expected = 'object';
  }
  if (expected !== undefined) report({ path, expected, received: typeName(value) });
}

/** The name of a type as JSON knows it; never the value. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Accepts a number, also one that comes as text, as that of Unix seconds does from some gateways. */
export function numeric(value: unknown): string | undefined {
  const isText = typeof value === 'string' && Number.isFinite(Number(value));
  return isText || typeof value === 'number' ? undefined : 'number';
}

/** Where lines about drift are logged. */
interface DriftLog {
  write(level: 'info' | 'error', message: string, details: Readonly<Record<string, string>>): void;
}

/** Beyond this many different reports something is fundamentally off and more tell nothing new. */
const maxReports = 1_000;

/** Reports each difference between an answer and its schema once per client. */
export class DriftReporter {
  readonly #onDrift: ((drift: Drift) => void) | undefined;
  readonly #log: DriftLog;
  readonly #seen = new Set<string>();

  constructor(onDrift: ((drift: Drift) => void) | undefined, log: DriftLog) {
    this.#onDrift = onDrift;
    this.#log = log;
  }

  report(operation: string, issue: ResponseIssue): void {
    // List positions are left out, or a list of a thousand items would report a thousand times.
    const path = issue.path.replace(/\[\d+\]/g, '[]');
    const key = `${operation} ${path} ${issue.expected} ${issue.received}`;
    if (this.#seen.has(key) || this.#seen.size >= maxReports) return;
    this.#seen.add(key);
    const drift: Drift = { operation, ...issue };
    this.#log.write('info', 'The answer differs from what was expected', { ...drift });
    const onError = (): void => this.#log.write('error', 'onDrift threw an error', { operation });
    try {
      const result: unknown = this.#onDrift?.(drift);
      // An async function fits the type, and its rejection would end a Node process.
      if (result instanceof Promise) result.catch(onError);
    } catch {
      onError();
    }
  }
}
