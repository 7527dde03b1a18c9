import {
  APIError,
  APIUserAbortError,
  endpoints,
  GatewayError,
  InvalidInputError,
  VideoWaitAbortedError,
  type Gateway,
  type Operation,
  type Outcome,
  type VideoTaskRef,
} from '../index.ts';

/*
 * The AI SDK recognises errors by marks and not by classes, so that copies of its packages understand
 * each other. Setting the marks here keeps `@ai-sdk/provider` out of what is loaded.
 */
const errorMark: unique symbol = Symbol.for('vercel.ai.error');
const callMark: unique symbol = Symbol.for('vercel.ai.error.AI_APICallError');
const functionalityMark: unique symbol = Symbol.for(
  'vercel.ai.error.AI_UnsupportedFunctionalityError',
);
const modelMark: unique symbol = Symbol.for('vercel.ai.error.AI_NoSuchModelError');
const valuesMark: unique symbol = Symbol.for(
  'vercel.ai.error.AI_TooManyEmbeddingValuesForCallError',
);

class AISDKError extends Error {
  /** @internal */
  get [errorMark](): boolean {
    return true;
  }
}

/** What is known of a call besides its error. */
export interface Failed {
  readonly client: Gateway;
  readonly operation: Operation;
  readonly signal?: AbortSignal | undefined;
  /** The video that was submitted before. */
  readonly ref?: VideoTaskRef | undefined;
}

/**
 * A call failed: an `APICallError` of the AI SDK, whose `cause` is the error of the client.
 *
 * It is never retryable: what is safe to repeat the client has repeated, and anything else may pay
 * twice. It holds nothing of the request.
 */
export class GatewayCallError extends AISDKError {
  override readonly name = 'AI_APICallError';
  readonly url: string;
  readonly requestBodyValues = undefined;
  readonly statusCode: number | undefined;
  readonly responseHeaders: Record<string, string> | undefined;
  /** Not enumerable, so logs do not show it: it may be a whole answer. */
  declare readonly responseBody: string | undefined;
  readonly isRetryable = false;
  /** What was paid for, such as images that could not be read; else what the gateway says. */
  readonly data: unknown;
  /** Whether the request was `not_sent`, was `rejected`, or has an `unknown` fate. */
  readonly outcome: Outcome;
  /** The id of the call, as in logs and ledgers. */
  readonly callId: string | undefined;
  /** The handle of a video that was submitted and is paid for: its `operation`. */
  readonly ref: VideoTaskRef | undefined;

  /** @internal */
  constructor(error: GatewayError, { client, operation, ref }: Failed, data?: unknown) {
    super(error.message, { cause: error });
    const { status, headers, error: answer, body } = APIError.isInstance(error) ? error : nothing;
    this.url = client.baseURL + endpoints[operation].path;
    this.statusCode = status;
    this.responseHeaders = headers && Object.fromEntries(headers);
    Object.defineProperty(this, 'responseBody', { value: body ?? textOf(answer) });
    this.data = data ?? answer;
    this.outcome = error.outcome;
    this.callId = error.callId;
    this.ref = ref ?? refOf(error);
  }

  /** @internal */
  get [callMark](): boolean {
    return true;
  }
}

const nothing: Partial<Pick<APIError, 'status' | 'headers' | 'error' | 'body'>> = {};

function textOf(answer: unknown): string | undefined {
  return typeof answer === 'string' || answer === undefined ? answer : JSON.stringify(answer);
}

/** The handle that an error of a video carries. */
function refOf(error: GatewayError): VideoTaskRef | undefined {
  const ref: unknown = 'ref' in error ? error.ref : undefined;
  return isRef(ref) ? ref : undefined;
}

function isRef(value: unknown): value is VideoTaskRef {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'video';
}

/** The caller's signal ended a call. The AI SDK knows such errors by their names. */
export class CallAbortedError extends Error {
  override readonly name: string;
  /** Whether the request may have been accepted: `not_sent` or `unknown`. */
  readonly outcome: Outcome;
  /** The id of the call, as in logs and ledgers. */
  readonly callId: string | undefined;
  /** The handle of a video that was submitted and is paid for: its `operation`. */
  readonly ref: VideoTaskRef | undefined;
  /** What came before the end and is paid for, such as images; `undefined` when there is nothing. */
  readonly data: unknown;

  /** @internal */
  constructor(error: GatewayError, { signal, ref }: Failed, data?: unknown) {
    super(error.message, { cause: error });
    const reason: unknown = signal?.reason;
    this.name =
      reason instanceof Error && reason.name === 'TimeoutError' ? reason.name : 'AbortError';
    this.outcome = error.outcome;
    this.callId = error.callId;
    this.ref = ref ?? refOf(error);
    this.data = data;
  }
}

/**
 * The error of the AI SDK that stands for one of the client.
 *
 * @param data - What was paid for, when it is more than the error itself holds.
 */
export function toAISDKError(error: unknown, failed: Failed, data?: unknown): unknown {
  // Bad input says by itself what to change, and was never sent.
  if (!GatewayError.isInstance(error) || InvalidInputError.isInstance(error)) return error;
  const Class = isAbort(error) ? CallAbortedError : GatewayCallError;
  return new Class(error, failed, data);
}

/** Whether it was the caller who ended a call. */
export function isAbort(error: unknown): boolean {
  return APIUserAbortError.isInstance(error) || VideoWaitAbortedError.isInstance(error);
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Makes a call, and turns its errors into those of the AI SDK. */
export async function calling<T>(failed: Failed, call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toAISDKError(error, failed);
  }
}

/** Something that cannot be asked of this gateway: an `UnsupportedFunctionalityError` of the AI SDK. */
export class UnsupportedError extends AISDKError {
  override readonly name = 'AI_UnsupportedFunctionalityError';
  readonly functionality: string;

  constructor(functionality: string, advice: string) {
    super(`'${functionality}' functionality not supported. ${advice}`);
    this.functionality = functionality;
  }

  /** @internal */
  get [functionalityMark](): boolean {
    return true;
  }
}

/** A kind of model that this gateway does not have: a `NoSuchModelError` of the AI SDK. */
export class NoSuchModelError extends AISDKError {
  override readonly name = 'AI_NoSuchModelError';
  readonly modelId: string;
  readonly modelType: string;

  constructor(modelId: string, modelType: string) {
    super(`No such ${modelType}: ${modelId}. The gateway has no models of this kind.`);
    this.modelId = modelId;
    this.modelType = modelType;
  }

  /** @internal */
  get [modelMark](): boolean {
    return true;
  }
}

/** More texts than fit into one request: a `TooManyEmbeddingValuesForCallError` of the AI SDK. */
export class TooManyValuesError extends AISDKError {
  override readonly name = 'AI_TooManyEmbeddingValuesForCallError';
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number;
  readonly values: unknown[];

  constructor(provider: string, modelId: string, maxEmbeddingsPerCall: number, values: unknown[]) {
    super(
      `Too many values for a single embedding call: the model "${modelId}" takes up to ${maxEmbeddingsPerCall}, and ${values.length} were given. Use embedMany, or set maxEmbeddingsPerCall.`,
    );
    this.provider = provider;
    this.modelId = modelId;
    this.maxEmbeddingsPerCall = maxEmbeddingsPerCall;
    this.values = values;
  }

  /** @internal */
  get [valuesMark](): boolean {
    return true;
  }
}
