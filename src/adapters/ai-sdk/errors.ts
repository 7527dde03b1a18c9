import {
  APIError,
  APIUserAbortError,
  GatewayError,
  InvalidInputError,
  ImageWaitAbortedError,
  VideoWaitAbortedError,
  type Gateway,
  type Operation,
  type Outcome,
  type TaskRef,
} from '../../index.ts';

/*
 * The AI SDK identifies errors by symbols instead of classes, so that several copies of its packages work
 * together. Defining the symbols here avoids loading `@ai-sdk/provider`.
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

/** Context of a failed call. */
export interface FailureContext {
  readonly client: Gateway;
  readonly operation: Operation;
  readonly signal?: AbortSignal | undefined;
  /** The video that was already submitted. */
  readonly ref?: TaskRef | undefined;
}

/**
 * A call failed: an `APICallError` of the AI SDK, whose `cause` is the error of the client.
 *
 * Never retryable: the client has already made all safe retries, and any other retry may be charged twice.
 * Contains no part of the request.
 */
export class GatewayCallError extends AISDKError {
  override readonly name = 'AI_APICallError';
  readonly url: string;
  readonly requestBodyValues = undefined;
  readonly statusCode: number | undefined;
  readonly responseHeaders: Record<string, string> | undefined;
  /** Not enumerable, to keep whole responses out of logs. */
  declare readonly responseBody: string | undefined;
  readonly isRetryable = false;
  /** Content that was paid for, such as images that could not be read; otherwise the gateway's error. */
  readonly data: unknown;
  /** `not_sent`, `rejected`, or `unknown` if the request may have been accepted. */
  readonly outcome: Outcome;
  /** The id of the call, same as in logs and ledgers. */
  readonly callId: string | undefined;
  /** The handle of a video, its `operation`, or of images that were submitted and paid for. */
  readonly ref: TaskRef | undefined;

  /** @internal */
  constructor(error: GatewayError, { client, operation, ref }: FailureContext, data?: unknown) {
    super(error.message, { cause: error });
    const { status, headers, error: answer, body } = APIError.isInstance(error) ? error : nothing;
    this.url = client.transport().operationURL(operation);
    this.statusCode = status;
    this.responseHeaders = headers && Object.fromEntries(headers);
    Object.defineProperty(this, 'responseBody', { value: body ?? toText(answer) });
    this.data = data ?? answer;
    this.outcome = error.outcome;
    this.callId = error.callId;
    this.ref = ref ?? errorRef(error);
  }

  /** @internal */
  get [callMark](): boolean {
    return true;
  }
}

const nothing: Partial<Pick<APIError, 'status' | 'headers' | 'error' | 'body'>> = {};

function toText(answer: unknown): string | undefined {
  return typeof answer === 'string' || answer === undefined ? answer : JSON.stringify(answer);
}

/** Returns the handle in an error. */
function errorRef(error: GatewayError): TaskRef | undefined {
  const ref: unknown = 'ref' in error ? error.ref : undefined;
  return isRef(ref) ? ref : undefined;
}

function isRef(value: unknown): value is TaskRef {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'video' || value.kind === 'image')
  );
}

/** The caller's signal ended the call. The AI SDK identifies such errors by name. */
export class CallAbortedError extends Error {
  override readonly name: string;
  /** `not_sent`, or `unknown` if the request may have been accepted. */
  readonly outcome: Outcome;
  /** The id of the call, same as in logs and ledgers. */
  readonly callId: string | undefined;
  /** The handle of a video, its `operation`, or of images that were submitted and paid for. */
  readonly ref: TaskRef | undefined;
  /** Content received before the abort and paid for, such as images; otherwise `undefined`. */
  readonly data: unknown;

  /** @internal */
  constructor(error: GatewayError, { signal, ref }: FailureContext, data?: unknown) {
    super(error.message, { cause: error });
    const reason: unknown = signal?.reason;
    this.name =
      reason instanceof Error && reason.name === 'TimeoutError' ? reason.name : 'AbortError';
    this.outcome = error.outcome;
    this.callId = error.callId;
    this.ref = ref ?? errorRef(error);
    this.data = data;
  }
}

/**
 * Converts an error of the client to one of the AI SDK.
 *
 * @param data - Content that was paid for and is not in the error.
 */
export function toAISDKError(error: unknown, failed: FailureContext, data?: unknown): unknown {
  // The message of an invalid input names the fix, and nothing was sent.
  if (!GatewayError.isInstance(error) || InvalidInputError.isInstance(error)) return error;
  const Class = isAbort(error) ? CallAbortedError : GatewayCallError;
  return new Class(error, failed, data);
}

/** Returns whether the caller ended the call. */
export function isAbort(error: unknown): boolean {
  const aborts = [APIUserAbortError, ImageWaitAbortedError, VideoWaitAbortedError];
  return aborts.some((abort) => abort.isInstance(error));
}

/** Returns the message of a thrown value. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // An object without a prototype, for example, cannot be converted.
    return 'unknown error';
  }
}

/** Runs a call and converts its errors to those of the AI SDK. */
export async function convertErrors<T>(
  failed: FailureContext,
  call: () => PromiseLike<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toAISDKError(error, failed);
  }
}

/** A feature that the gateway does not support: an `UnsupportedFunctionalityError` of the AI SDK. */
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

/** A model type that the gateway does not have: a `NoSuchModelError` of the AI SDK. */
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

/** More texts than a request may contain: a `TooManyEmbeddingValuesForCallError` of the AI SDK. */
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
