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

/** A model id, as `models.list()` gives it. Gateways have more models than a list of names could hold. */
export type ChatModel = string;
/** The id of any model, as `models.list()` gives it. */
export type AllModels = string;
/** The id of a model for embeddings, as `models.list()` gives it. */
export type EmbeddingModel = string;
/** The id of an image model, as `models.list()` gives it. */
export type ImageModel = string;
/** The id of a model that listens, as `models.list()` gives it. */
export type AudioModel = string;
/** The id of a model that speaks, as `models.list()` gives it. */
export type SpeechModel = string;
/** The id of a video model, as `models.list()` gives it. */
export type VideoModel = string;

/** Pairs that the provider stores with an answer. */
export type Metadata = Record<string, string>;

/** An error as OpenAI words it; `APIError.error` holds whatever the gateway sent. */
export interface ErrorObject {
  code: string | null;
  message: string;
  param: string | null;
  type: string;
  /** What a review of the request found. */
  misalignment?: ErrorMisalignment | undefined;
}

/** What a review of a refused request found. */
export interface ErrorMisalignment {
  detailed_explanation?: string | undefined;
  error_type?: string | undefined;
  review_target?: string | null | undefined;
  steer?: ErrorMisalignmentSteer | undefined;
}

type ErrorMisalignmentSteer = { message: string };

// The parts under the names that code for `openai` uses.
export declare namespace ErrorMisalignment {
  export { ErrorMisalignmentSteer as Steer };
}

// The parts under the names that code for `openai` uses.
export declare namespace ErrorObject {
  export { ErrorMisalignment as Misalignment };
}
