import { abortOwn, type CallScope, onAbort } from '../abort.ts';
import { toBytes } from './chunks.ts';
import { createResponse } from './foreign-response.ts';
import { requestIdHeaders } from '../../gateways/signs.ts';
import type { CallSpec } from '../request.ts';
import type { FailedAttempt } from '../retry.ts';

/** A response with a success status, whose body is unread. */
export interface IncomingResponse {
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly spec: CallSpec;
  /** Stops reading when the call is aborted or times out. */
  readonly scope: CallScope;
}

/**
 * Returns the request id of a response: the gateway's header, else the id in its message (browsers can't read
 * the header across origins), else that of a proxy, whose operator can look up the call.
 */
export function findRequestId(
  headers: Headers,
  fromMessage?: string,
  names: readonly string[] = requestIdHeaders,
): string | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value) return value;
  }
  return fromMessage ?? (headers.get('cf-ray') || undefined);
}

/** Adds `_request_id` to a result, as `openai` does; arrays and primitives are unchanged. */
export function attachRequestId(value: unknown, requestId: string | undefined): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  Object.defineProperty(value, '_request_id', {
    value: requestId ?? null,
    enumerable: false,
    configurable: true,
  });
}

/** The maximum number of bytes read of an error body. */
export const errorBodyLimit = 65_536;

/** The response had a 2xx status but its body was unusable. */
export class ReadFailure extends Error {
  readonly #failed: FailedAttempt;

  constructor(failed: FailedAttempt) {
    super();
    this.#failed = failed;
  }

  get failed(): FailedAttempt {
    return this.#failed;
  }

  /** Like `instanceof`, which runs the traps of a proxy that a custom `fetch` throws. */
  static is(error: unknown): error is ReadFailure {
    return typeof error === 'object' && error !== null && #failed in error;
  }
}

/**
 * Creates the failure for an unusable success response. A charge is likely, because the status line was
 * received.
 */
export function unusable(
  { response: { status, headers }, requestId }: Pick<IncomingResponse, 'response' | 'requestId'>,
  problem: string,
  text?: string,
): FailedAttempt {
  return { kind: 'unusable_answer', phase: 'body', status, headers, requestId, problem, text };
}

/** Returns the error for a body that broke off, or `cause` if that is already a `ReadFailure`. */
function toReadFailure(cause: unknown, incoming: IncomingResponse, text?: string): ReadFailure {
  if (ReadFailure.is(cause)) return cause;
  const failed = unusable(incoming, 'the response ended before it was complete.', text);
  return new ReadFailure({ ...failed, cause });
}

/** Returns the error for a body that is larger than a limit. It is not repeated: the next one would be as large. */
function tooLarge(incoming: IncomingResponse, limit: number, text?: string): ReadFailure {
  const problem = `the response is larger than ${limit} bytes (maxResponseBytes).`;
  return new ReadFailure({ ...unusable(incoming, problem, text), kind: 'undecided' });
}

/** Cancels an unread body to free its connection. */
export function discardBody(body: Pick<ReadableStream, 'cancel'> | null | undefined): void {
  body?.cancel().catch(() => undefined);
}

/** Joins bytes without a copy if there is one part. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array()] = chunks;
  if (chunks.length <= 1) return first;
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** Shared, because creating one costs more than decoding a short response. */
const decoder = new TextDecoder();

/** The reason reading ended: the body ended, the limit was reached, or reading failed. */
type ReadingEnd = 'whole' | 'limit' | 'broken';

/**
 * Reads up to `length` bytes, until the attempt is stopped. Never rejects: bytes read so far are returned.
 */
async function readBytes(body: ReadableStream<Uint8Array>, scope: CallScope, length: number) {
  const chunks: Uint8Array[] = [];
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let end: ReadingEnd = 'limit';
  let cause: unknown;
  try {
    reader = body.getReader();
    for (let remaining = length; remaining > 0;) {
      const { done, value } = await scope.until(reader.read());
      if (done) {
        end = 'whole';
        break;
      }
      const chunk = toBytes(value, reader);
      chunks.push(chunk);
      remaining -= chunk.byteLength;
    }
  } catch (error) {
    discardBody(reader);
    end = 'broken';
    cause = error;
  }
  // Decoding all bytes together is several times faster than chunk by chunk.
  return { reader, bytes: joinBytes(chunks), end, cause };
}

interface BodyText {
  readonly text: string;
  readonly end: ReadingEnd;
  readonly cause?: unknown;
}

/** Reads at most `limit` bytes of a body as text and cancels the rest. Never rejects. */
export async function readBody(
  response: Response,
  limit: number,
  scope: CallScope,
): Promise<BodyText> {
  if (response.body === null) return { text: '', end: 'whole' };
  const { reader, bytes, end, cause } = await readBytes(response.body, scope, limit + 1);
  if (end === 'whole') return { text: decoder.decode(bytes), end };
  if (end === 'limit') discardBody(reader);
  // An incomplete character at the end is dropped; invalid bytes elsewhere become replacement characters.
  const text = new TextDecoder().decode(bytes.subarray(0, limit), { stream: true });
  return { text, end, cause };
}

/**
 * Reads a success body as text.
 *
 * @throws `ReadFailure` if the body breaks off or exceeds `limit` bytes
 */
export async function readText(incoming: IncomingResponse, limit: number): Promise<string> {
  const { text, end, cause } = await readBody(incoming.response, limit, incoming.scope);
  if (end === 'whole') return text;
  throw end === 'broken' ? toReadFailure(cause, incoming, text) : tooLarge(incoming, limit, text);
}

/**
 * Reads a success body as bytes.
 *
 * @throws `ReadFailure` if the body breaks off or exceeds `limit` bytes
 */
export async function readFile(incoming: IncomingResponse, limit: number): Promise<Uint8Array> {
  const { response, scope } = incoming;
  if (response.body === null) return new Uint8Array();
  const { reader, bytes, end, cause } = await readBytes(response.body, scope, limit + 1);
  discardBody(reader);
  if (end === 'whole') return bytes;
  throw end === 'broken' ? toReadFailure(cause, incoming) : tooLarge(incoming, limit);
}

/**
 * Creates a stream without read-ahead, so that a slow reader slows the gateway down instead of filling
 * memory.
 */
function lazyStream(source: UnderlyingDefaultSource<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(source, { highWaterMark: 0 });
}

/**
 * Keeps the body of a response while it is read.
 *
 * @param limit - The number of bytes that are kept.
 * @returns the response to read, and a function that returns the bytes so far as text
 */
export function keepBody(
  response: Response,
  limit: number,
): { readonly response: Response; readonly text: () => string } {
  const { body } = response;
  if (body === null) return { response, text: () => '' };
  const chunks: Uint8Array[] = [];
  let left = limit;
  const reader = body.getReader();
  const kept = lazyStream({
    async pull(controller) {
      const { value } = await reader.read();
      if (value === undefined) {
        controller.close();
        return;
      }
      const chunk = toBytes(value, reader);
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= chunk.byteLength;
      controller.enqueue(chunk);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return {
    response: createResponse(kept, response),
    text: () => decoder.decode(joinBytes(chunks)),
  };
}

/** The beginning of a response as text, and the whole response, still unread. */
interface Peeked {
  readonly beginning: string;
  /** `true` if the body is empty. Text is also empty after only a byte order mark. */
  readonly isEmpty: boolean;
  readonly incoming: IncomingResponse;
}

/** Reads the first `length` bytes of a body without consuming it. */
export async function peekBody(incoming: IncomingResponse, length = 1): Promise<Peeked> {
  const { response, scope } = incoming;
  if (response.body === null) return { beginning: '', isEmpty: true, incoming };
  const { reader, bytes, end, cause } = await readBytes(response.body, scope, length);
  if (end === 'broken') throw toReadFailure(cause, incoming);
  let pending = bytes.byteLength > 0;
  const again = lazyStream({
    async pull(controller) {
      const next = pending ? { value: bytes } : await reader?.read();
      pending = false;
      if (reader === undefined || next?.value === undefined) controller.close();
      else controller.enqueue(toBytes(next.value, reader));
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  // Files are long, and their first letters usually identify them.
  const seen = length > 1 ? bytes : bytes.subarray(0, 256);
  return {
    beginning: decoder.decode(seen),
    isEmpty: bytes.byteLength === 0,
    incoming: { ...incoming, response: createResponse(again, response) },
  };
}

/** Checks the end of a file while it is received. */
export interface FileCheck {
  /** Takes the next bytes. Returns those that are certainly a part of the file. */
  add(chunk: Uint8Array): Uint8Array;
  /**
   * Returns the last bytes, which were held back, and the failure of a file that ends too early.
   *
   * @param received - The number of bytes, with those that are no part of the file.
   */
  end(received: number): {
    readonly rest: Uint8Array;
    readonly failure: FailedAttempt | undefined;
  };
}

interface BodyOwner {
  readonly scope: CallScope;
  readonly settings: { readonly idleTimeout: number | null };
  explain(failed: FailedAttempt): FailedAttempt;
  toError(failed: FailedAttempt): Error;
  release(ending: { readonly error?: unknown; readonly isWhole?: boolean }): void;
}

/**
 * Returns the response with a body that is forwarded chunk by chunk as it is read, fails if it is cut or
 * stalls, and ends the call at its end.
 *
 * @param file - The check of a body that is a file.
 */
export function exposeResponse(
  call: BodyOwner,
  incoming: IncomingResponse,
  file?: FileCheck,
): Response {
  const { response } = incoming;
  const { scope } = call;
  const { idleTimeout } = call.settings;
  const { controller } = scope;
  const reader = response.body?.getReader();
  if (reader === undefined) {
    call.release({ isWhole: true });
    return response;
  }
  const expected = expectedLength(response.headers);
  let received = 0;
  let isSilent = false;
  let isReading = false;
  const onSilence = (): void => {
    isSilent = true;
    abortOwn(controller);
  };

  // Ends bodies that ignore the abort, such as mocks.
  const stopListening = onAbort(controller.signal, () => {
    discardBody(reader);
    // A pending read ends the call itself, with its error.
    if (!isReading) call.release({});
  });
  const end: BodyOwner['release'] = (ending) => {
    stopListening();
    call.release(ending);
  };
  scope.endAttempt();
  scope.keepAlive(false);
  const guarded = lazyStream({
    async pull(target) {
      let failure: FailedAttempt | undefined;
      const passRest = (): FailedAttempt | undefined => {
        const { rest, failure: fault } = file?.end(received) ?? {};
        if (rest !== undefined && rest.byteLength > 0) target.enqueue(rest);
        return fault;
      };
      isReading = true;
      scope.keepAlive(true);
      let silence: ReturnType<typeof setTimeout> | undefined;
      try {
        for (;;) {
          if (idleTimeout !== null) silence = setTimeout(onSilence, idleTimeout);
          const { done, value } = await reader.read();
          clearTimeout(silence);
          controller.signal.throwIfAborted();
          if (done) break;
          const chunk = toBytes(value, reader);
          received += chunk.byteLength;
          const passed = file === undefined ? chunk : file.add(chunk);
          // A stream that is given nothing would not be pulled again.
          if (passed.byteLength === 0) continue;
          target.enqueue(passed);
          return;
        }
        failure = passRest();
        if (received < expected) {
          failure ??= unusable(incoming, `the body ended after ${received} of ${expected} bytes.`);
        }
      } catch (cause) {
        passRest();
        const silent = `no data arrived for ${idleTimeout} ms (idleTimeout).`;
        failure = isSilent
          ? unusable(incoming, silent)
          : { ...unusable(incoming, 'the connection broke before the end of the body.'), cause };
      } finally {
        clearTimeout(silence);
        isReading = false;
        scope.keepAlive(false);
      }
      if (failure === undefined) {
        end({ isWhole: true });
        target.close();
        return;
      }
      const error = call.toError(call.explain(failure));
      end({ error });
      target.error(error);
    },
    async cancel(reason) {
      end({});
      await reader.cancel(reason).catch(() => undefined);
    },
  });
  return createResponse(guarded, response);
}

/** Returns `content-length`; 0 if it is absent or counts bytes of a content coding. */
export function expectedLength(headers: Headers): number {
  const coding = headers.get('content-encoding') ?? 'identity';
  const text = headers.get('content-length') ?? '';
  return coding === 'identity' && /^\s*\d+\s*$/.test(text) ? Number(text) : 0;
}
