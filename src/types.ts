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

/** A string of which some values are known; the gateway may send others. */
export type OpenString<Known extends string> = Known | (string & {});

/** What every object answer carries besides its own fields; not enumerable, so it never shows in JSON. */
export interface WithRequestId {
  /** The gateway's request id, or `null` when none could be read (browsers hide the header). */
  readonly _request_id?: string | null;
}

/** One place where an answer differs from what this client expects. */
export interface ResponseIssue {
  /** Where in the answer, for example `choices[0].message.content`. */
  readonly path: string;
  /** What was expected there, for example `string`. */
  readonly expected: string;
  /** What was received: a type name, never the value itself. */
  readonly received: string;
}

/** Pairs that the provider stores with an answer. */
export type Metadata = Record<string, string>;
