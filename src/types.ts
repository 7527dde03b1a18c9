/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** An object parsed from JSON whose fields are not known. */
export type JsonObject = Record<string, unknown>;

/** A string with some known values; the gateway may send others. */
export type OpenString<Known extends string> = Known | (string & {});

/** Removes the open string from a union with known ones; other types are unchanged. */
type KnownWords<T> = [Extract<Literals<T>, string>] extends [never] ? T : Literals<T>;
type Literals<T> = T extends string ? (string extends T ? never : T) : T;

/**
 * A type with closed unions in place of open strings, and lists that can be changed, at any depth, as code for
 * `openai` expects. Methods also accept the open type.
 */
export type Closed<T> = ClosedMember<KnownWords<T>>;
type ClosedMember<T> = T extends (...input: never) => unknown
  ? T
  : T extends readonly unknown[]
    ? { -readonly [Index in keyof T]: Closed<T[Index]> }
    : T extends object
      ? { [Name in keyof T]: Closed<T[Name]> }
      : T;

/** The field that every object response has in addition. Not enumerable, so it never appears in JSON. */
export interface WithRequestId {
  /** The gateway's request id, or `null` if it could not be read (browsers hide the header). */
  readonly _request_id?: string | null;
}

/** A difference between a response and its expected type. */
export interface ResponseIssue {
  /** Path within the response, for example `choices[0].message.content`. */
  readonly path: string;
  /** The expected type, for example `string`. */
  readonly expected: string;
  /** The received type, never the value itself. */
  readonly received: string;
}

/** Pairs that the provider stores with a response. */
export type Metadata = Record<string, string>;
