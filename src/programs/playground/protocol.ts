/** The messages between the page and its server. The page imports only types. */
import type { Operation } from '../../endpoints.ts';
import type { Outcome } from '../../errors/gateway-error.ts';
import type { StreamVerdict } from '../../streams/errors.ts';
import type { JsonObject } from '../../types.ts';
import type { VideoTaskRef } from '../../resources/videos/types.ts';

/** The kinds of calls, one for each panel. */
export type CallKind =
  | 'chat'
  | 'image'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'embeddings'
  | 'video';

/** The input of a call. The page creates its id, so that a repeated request makes the call once. */
export interface CallInput {
  readonly kind: CallKind;
  /** The parameters for the client, without files. */
  readonly body: JsonObject;
  /** The id of the video call to remix. */
  readonly remixOf?: string | undefined;
  /** The name of the scenario that makes the call fail. Emulator only. */
  readonly fault?: string | undefined;
  /** The number of requests that the fault hits. @defaultValue 1 */
  readonly times?: number | undefined;
  /** Never retry after an unknown outcome: `retryUnknownOutcome: false`. */
  readonly strict?: boolean | undefined;
  /** The id of the conversation, for chat. */
  readonly conversation?: string | undefined;
  /** The column of the model within the conversation. */
  readonly column?: number | undefined;
  /** The id of the call that this one replaces in its column, with all calls after it. */
  readonly replaces?: string | undefined;
}

/** An error, as the page shows it. */
export interface Problem {
  readonly name: string;
  readonly message: string;
  /** The recommended next step. */
  readonly advice: string;
  readonly outcome?: Outcome | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The body of an unusable response that may have been charged. */
  readonly answer?: string | undefined;
}

/** A request of a call, as the emulator received it. */
export interface Attempt {
  readonly method: string;
  readonly path: string;
  /** Missing if there was no response. */
  readonly status?: number | undefined;
  /** Credit units. */
  readonly charged: number;
  readonly refunded: boolean;
}

/** Another SDK, by its package on npm. */
export type RivalName = 'openai' | 'ai' | 'replicate' | '@fal-ai/client';

/** The result of the same call and fault with the default retry rule of another SDK. */
export interface Rival {
  readonly name: RivalName;
  readonly requests: number;
  readonly charges: number;
  readonly amount: number;
  /** `waiting`: it is still waiting, because the SDK has no time limit. */
  readonly ended: 'answer' | 'error' | 'waiting';
  /** What the caller receives, as the predicate of a sentence: `receives the response`. */
  readonly result: string;
}

/** A result file of a call. */
export interface ResultFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

/** A tool call of the model. */
interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A step of a call: an attempt, its result, or the wait for the next one. */
export interface CallStep {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly type: 'sent' | 'answered' | 'failed' | 'waiting' | 'first-token';
  /** The HTTP status of a response; missing if there was none. */
  readonly status?: number | undefined;
  /** For `waiting`: the number of the retry, from 1, and the most retries. */
  readonly retry?: { readonly number: number; readonly most: number } | undefined;
  /** For `waiting`: the time of the next attempt, in milliseconds since 1970. */
  readonly until?: number | undefined;
}

/** The state of a video task. */
interface VideoView {
  readonly ref: VideoTaskRef;
  readonly status: string;
  readonly progress?: number | undefined;
  /** The time of the next poll, in milliseconds since 1970. */
  readonly nextPoll?: number | undefined;
  readonly polls: number;
  /** The error message of the last poll, if it failed. */
  readonly pollError?: string | undefined;
}

/** The similarity of texts. */
interface Similarity {
  readonly dimensions: number;
  /** Cosine similarities, row by row. */
  readonly rows: readonly (readonly number[])[];
}

/** A call and its results. */
export interface CallView extends Omit<CallInput, 'times'> {
  readonly id: string;
  readonly operation: Operation;
  readonly model: string;
  /** The files that were sent. */
  readonly sent: readonly { readonly field: string; readonly name: string }[];
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  /** The time of the first token, in milliseconds since 1970. */
  readonly firstAt?: number | undefined;
  readonly status: 'running' | 'done' | 'failed' | 'stopped';
  /** Without the polls of a video. Missing in calls that earlier versions stored. */
  readonly steps?: readonly CallStep[] | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly chunks: number;
  readonly toolCalls: readonly ToolCallView[];
  readonly finishReason?: string | undefined;
  readonly verdict?: StreamVerdict | undefined;
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  /** The cost that the gateway reports, in US dollars. */
  readonly cost?: number | undefined;
  readonly files: readonly ResultFile[];
  /** The addresses of results that could not be downloaded. */
  readonly links: readonly string[];
  readonly similarity?: Similarity | undefined;
  readonly video?: VideoView | undefined;
  readonly problem?: Problem | undefined;
  readonly requestId?: string | undefined;
  /** The requests and their charges. Emulator only. */
  readonly attempts?: readonly Attempt[] | undefined;
  /** Emulator only. Missing until all have ended. */
  readonly rivals?: readonly Rival[] | undefined;
}

/** An event of the stream, one per line. */
export type PlaygroundEvent =
  /** The complete state, sent first. */
  | { readonly type: 'all'; readonly calls: readonly CallView[]; readonly account: EmulatorAccount }
  | { readonly type: 'call'; readonly call: CallView }
  | {
      readonly type: 'change';
      readonly id: string;
      readonly changes: Partial<CallView>;
      /** Text that was appended. */
      readonly text: string;
      readonly reasoning: string;
    }
  | { readonly type: 'gone'; readonly id: string }
  | { readonly type: 'account'; readonly account: EmulatorAccount };

/** The account and the clock of the emulator. */
export interface EmulatorAccount {
  readonly charges: number;
  readonly amount: number;
  readonly refunded: number;
  readonly clock: { readonly held: boolean; readonly speed: number };
}

/** What determines the price of a call. */
export interface Priced {
  readonly model: string;
  readonly images?: number | undefined;
  readonly seconds?: number | undefined;
  readonly characters?: number | undefined;
}

/** The estimated price of the calls of a press. */
export interface Estimate {
  /** With its unit; missing if the price list of the gateway does not have it. */
  readonly price?: string | undefined;
}

/** The usage log of a real gateway. */
export interface UsageLog {
  /** Net charges (charged minus refunded) with their unit, by request id. */
  readonly charges: Readonly<Record<string, string>>;
  /** The error, if the log could not be read. */
  readonly problem?: Problem | undefined;
}

/** A fault that the emulator can simulate. */
export interface Scenario {
  readonly name: string;
  readonly label: string;
  /** One sentence. */
  readonly description: string;
  readonly kinds: readonly CallKind[];
}

/** A model that the key can use. */
export interface ListedModel {
  readonly id: string;
  readonly type?: string | null | undefined;
}

/** The data that the page loads first. */
export interface Hello {
  readonly version: string;
  readonly isEmulator: boolean;
  readonly baseURL: string;
  /** The kind of gateway; `undefined` for new-api, the default. */
  readonly gateway?: string | undefined;
  readonly scenarios: readonly Scenario[];
  /** The SDKs to compare with, and the calls that they have. Emulator only. */
  readonly rivals: readonly { readonly name: RivalName; readonly kinds: readonly CallKind[] }[];
  /** Credit units in one US dollar. Emulator only. */
  readonly unitsPerDollar?: number | undefined;
  /** The largest upload, in bytes. */
  readonly uploadLimit: number;
  /** `true` if results are stored on disk. */
  readonly keeps: boolean;
}
