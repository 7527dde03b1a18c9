import type { JsonObject } from '../../types.ts';
import { isObject } from '../../answers/objects.ts';
import { jsonType } from '../control/json.ts';
import type { RequestBody, UploadedFile } from './request-body.ts';

type Refuse = (message: string) => Error;

/**
 * Reads the fields of a body as strictly as the gateway's decoder.
 *
 * In JSON a field must have its exact type; in a form every field is text.
 */
export class Fields {
  readonly files: readonly UploadedFile[];
  readonly #values: JsonObject;
  readonly #isForm: boolean;
  readonly #refuse: Refuse;

  constructor(body: RequestBody, refuse: Refuse) {
    this.#isForm = body.kind === 'multipart';
    this.#refuse = refuse;
    this.files = body.kind === 'multipart' ? body.files : [];
    if (body.kind === 'multipart') this.#values = body.fields;
    else this.#values = body.kind === 'json' && isObject(body.value) ? body.value : {};
  }

  /** Returns the raw value; `null` counts as missing. */
  raw(name: string): unknown {
    return this.#values[name] ?? undefined;
  }

  string(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#mistyped(name, 'string', value);
  }

  number(name: string): number | undefined {
    const value = this.parsed(name);
    if (value === undefined || typeof value === 'number') return value;
    throw this.#mistyped(name, 'number', value);
  }

  integer(name: string): number | undefined {
    const value = this.number(name);
    if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
    throw this.#refuse(`invalid value for field "${name}": expected a non-negative integer`);
  }

  boolean(name: string): boolean | undefined {
    const value = this.parsed(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#mistyped(name, 'bool', value);
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.raw(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw this.#mistyped(name, 'array', value);
  }

  object(name: string): JsonObject | undefined {
    const value = this.raw(name);
    if (value === undefined || isObject(value)) return value;
    throw this.#mistyped(name, 'object', value);
  }

  /** Returns the value, parsed as JSON if the body is a form. */
  parsed(name: string): unknown {
    return this.#isForm ? this.#parsed(name) : this.raw(name);
  }

  #parsed(name: string): unknown {
    const value = this.string(name);
    if (value === undefined || value === '') return undefined;
    try {
      const parsed: unknown = JSON.parse(value);
      return parsed;
    } catch {
      return value;
    }
  }

  #mistyped(name: string, expected: string, value: unknown): Error {
    return this.#refuse(
      `invalid type for field "${name}": expected ${expected}, got ${jsonType(value)}`,
    );
  }
}
