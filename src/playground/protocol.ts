/** What the page and its server say to each other. The page imports types alone. */
import type { Operation } from '../endpoints.ts';
import type { Outcome } from '../errors/gateway-error.ts';
import type { StreamVerdict } from '../streams/errors.ts';
import type { JsonObject } from '../types.ts';
import type { VideoTaskRef } from '../videos/types.ts';

/** What a panel asks for. */
export type CallKind = 'chat' | 'image' | 'speech' | 'translation' | 'embeddings' | 'video';

/** A call as the page orders it. Its id is made by the page, so that ordering it twice makes it once. */
export interface CallInput {
  readonly kind: CallKind;
  /** The parameters, as the client takes them, without files. */
  readonly body: JsonObject;
  /** The video call whose result is changed. */
  readonly remixOf?: string | undefined;
  /** What goes wrong, by the name of a scenario. Only on the emulator. */
  readonly fault?: string | undefined;
  /** How many requests it hits. @defaultValue 1 */
  readonly times?: number | undefined;
  /** Sends a metered call by the rule of charged ones: `retryUnknownOutcome: false`. */
  readonly strict?: boolean | undefined;
  /** Which calls of chat belong to one conversation, and in which column of it this one stands. */
  readonly conversation?: string | undefined;
  readonly column?: number | undefined;
}

/** Why a call ended without what was asked for. */
export interface Problem {
  readonly name: string;
  readonly message: string;
  /** What to do now. It is the end of `message` too. */
  readonly advice: string;
  readonly outcome?: Outcome | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** What the gateway answered, when that may be paid for and could not be used. */
  readonly answer?: string | undefined;
}

/** One request that a call made, as the emulator saw it. */
export interface Attempt {
  readonly method: string;
  readonly path: string;
  /** Missing when nothing was answered. */
  readonly status?: number | undefined;
  /** Credit units. */
  readonly charged: number;
  readonly refunded: boolean;
}

/** What `openai`'s rule makes of the same call and the same faults. */
export interface Rival {
  readonly requests: number;
  readonly charges: number;
  readonly amount: number;
  /** `waiting`: it has no limit for silence, and waits on. */
  readonly ended: 'answer' | 'error' | 'waiting';
  /** What the program is told, in words. */
  readonly told: string;
}

/** A file that a call gave. */
export interface ResultFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

/** A tool that the model wants to be called. */
interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A video task on its way. */
interface VideoView {
  readonly ref: VideoTaskRef;
  readonly status: string;
  readonly progress?: number | undefined;
  /** When it is asked about next, in milliseconds since 1970. */
  readonly nextPoll?: number | undefined;
  readonly polls: number;
  /** Why the last poll said nothing. */
  readonly stumble?: string | undefined;
}

/** How alike texts are. */
interface Similarity {
  readonly dimensions: number;
  /** Cosines, row by row. */
  readonly rows: readonly (readonly number[])[];
}

/** A call with all that came of it. */
export interface CallView extends Omit<CallInput, 'times'> {
  readonly id: string;
  readonly operation: Operation;
  readonly model: string;
  /** Files that were sent along. */
  readonly sent: readonly { readonly field: string; readonly name: string }[];
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  /** When the first word came, in milliseconds since 1970. */
  readonly firstAt?: number | undefined;
  readonly status: 'running' | 'done' | 'failed' | 'stopped';
  readonly text: string;
  readonly reasoning: string;
  readonly chunks: number;
  readonly toolCalls: readonly ToolCallView[];
  readonly finishReason?: string | undefined;
  readonly verdict?: StreamVerdict | undefined;
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  readonly files: readonly ResultFile[];
  /** Results that stayed where the gateway has them, because they could not be fetched. */
  readonly links: readonly string[];
  readonly similarity?: Similarity | undefined;
  readonly video?: VideoView | undefined;
  readonly problem?: Problem | undefined;
  readonly requestId?: string | undefined;
  /** What was sent and charged. Only on the emulator, which keeps books that all can read. */
  readonly attempts?: readonly Attempt[] | undefined;
  readonly rival?: Rival | undefined;
}

/** One line of the stream of events. */
export type PlaygroundEvent =
  /** The whole state, at the beginning of a stream. */
  | { readonly type: 'all'; readonly calls: readonly CallView[]; readonly books: Books }
  | { readonly type: 'call'; readonly call: CallView }
  | {
      readonly type: 'change';
      readonly id: string;
      readonly changes: Partial<CallView>;
      /** What text grew by. */
      readonly text: string;
      readonly reasoning: string;
    }
  | { readonly type: 'gone'; readonly id: string }
  | { readonly type: 'books'; readonly books: Books };

/** The account of the emulator, and its clock. */
export interface Books {
  readonly charges: number;
  readonly amount: number;
  readonly refunded: number;
  readonly clock: { readonly held: boolean; readonly speed: number };
}

/** What a real gateway's books say. */
export interface BooksRead {
  /** What was charged for a request, less what was given back, with its unit, by the request's id. */
  readonly lines: Readonly<Record<string, string>>;
  /** Why they could not be read. */
  readonly problem?: Problem | undefined;
}

/** A way to fail that the emulator knows. */
export interface Scenario {
  readonly name: string;
  readonly label: string;
  /** What happens, in one sentence. */
  readonly what: string;
  readonly kinds: readonly CallKind[];
}

/** A model that the key can use. */
export interface ListedModel {
  readonly id: string;
  readonly type?: string | null | undefined;
}

/** What the page needs to know first. */
export interface Hello {
  readonly version: string;
  readonly isEmulator: boolean;
  readonly baseURL: string;
  readonly scenarios: readonly Scenario[];
  /** The largest upload, in bytes. */
  readonly uploadLimit: number;
  /** Whether results are kept on the disk. */
  readonly keeps: boolean;
}
