import { type CallScope, onAbort } from './abort.ts';
import type { CallSpec } from './request.ts';
import type { FailedAttempt } from './retry.ts';

/** An answer with a success status whose headers have come. */
export interface Answer {
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly spec: CallSpec;
  /** Ends the reading when the call is stopped, by the caller or by a time limit. */
  readonly scope: CallScope;
}

/** Response headers that hold a request id of the gateway. */
const requestIdNames = ['x-oneapi-request-id', 'x-request-id', 'request-id', 'x-litellm-call-id'];

/**
 * The request id of an answer: the gateway's header, else the one in its message (browsers cannot
 * read the header across origins), else that of a proxy, whose operator can look the call up.
 */
export function requestIdOf(headers: Headers, fromMessage?: string): string | undefined {
  for (const name of requestIdNames) {
    const value = headers.get(name);
    if (value) return value;
  }
  return fromMessage ?? (headers.get('cf-ray') || undefined);
}

/** Adds `_request_id` to an answer, as the `openai` package does; arrays and primitives are left alone. */
export function attachRequestId(value: unknown, requestId: string | undefined): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  Object.defineProperty(value, '_request_id', {
    value: requestId ?? null,
    enumerable: false,
    configurable: true,
  });
}

/** The most that is read of a body that belongs to an error. */
export const errorBodyLimit = 65_536;

/** Thrown by whatever reads a success answer, when it is no answer. */
export class ReadFailure extends Error {
  readonly failed: FailedAttempt;

  constructor(failed: FailedAttempt) {
    super();
    this.failed = failed;
  }
}

/** A success answer that is not usable. The status line was read, so a charge is likely. */
export function unusable(
  { response: { status, headers }, requestId }: Pick<Answer, 'response' | 'requestId'>,
  problem: string,
  text?: string,
): FailedAttempt {
  return { kind: 'unusable_answer', phase: 'body', status, headers, requestId, problem, text };
}

/** The failure of an answer whose body broke off while it was read, unless it had failed before. */
export function brokenOff(cause: unknown, answer: Answer, text?: string): ReadFailure {
  if (cause instanceof ReadFailure) return cause;
  const failed = unusable(answer, 'the answer broke off before its end.', text);
  return new ReadFailure({ ...failed, cause });
}

/** Lets go of a body that nobody will read, so that its connection is free again. */
export function letGo(body: Pick<ReadableStream, 'cancel'> | null | undefined): void {
  body?.cancel().catch(() => undefined);
}

/** The bytes of chunks in one piece. */
function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
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

/** Making one for each answer costs more than decoding a short one. */
const decoder = new TextDecoder();

/** How a reading ended: with the body, at the limit, or because the body or the attempt broke off. */
type ReadingEnd = 'whole' | 'limit' | 'broken';

/**
 * Reads until so many bytes are there, or the body ends. Ends as soon as the attempt is stopped. Never
 * rejects: what was read counts.
 */
async function readBytes(body: ReadableStream<Uint8Array>, scope: CallScope, length: number) {
  const chunks: Uint8Array[] = [];
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let end: ReadingEnd = 'limit';
  let cause: unknown;
  try {
    reader = body.getReader();
    for (let left = length; left > 0;) {
      const { done, value } = await scope.until(reader.read());
      if (done) {
        end = 'whole';
        break;
      }
      // A `fetch` of the caller's may give what is no bytes.
      chunks.push(value.subarray());
      left -= value.byteLength;
    }
  } catch (error) {
    letGo(reader);
    end = 'broken';
    cause = error;
  }
  // Decoding them in one piece is several times faster than one by one.
  return { reader, bytes: joinBytes(chunks), end, cause };
}

interface BodyText {
  readonly text: string;
  readonly end: ReadingEnd;
  readonly cause?: unknown;
}

/** Reads at most `limit` bytes of a body as text, and lets go of the rest. Never rejects. */
export async function readBody(
  response: Response,
  limit: number,
  scope: CallScope,
): Promise<BodyText> {
  if (!(response.body instanceof ReadableStream)) {
    // Some runtimes have no stream here.
    return scope.until(response.text()).then(
      (text) => ({ text: text.slice(0, limit), end: text.length <= limit ? 'whole' : 'limit' }),
      (cause: unknown) => ({ text: '', end: 'broken', cause }),
    );
  }
  const { reader, bytes, end, cause } = await readBytes(response.body, scope, limit + 1);
  if (end === 'whole') return { text: decoder.decode(bytes), end };
  if (end === 'limit') letGo(reader);
  // A character that is cut at the end is left out; elsewhere it is shown as unreadable.
  const text = new TextDecoder().decode(bytes.subarray(0, limit), { stream: true });
  return { text, end, cause };
}

/** Reads a whole success body as text. A body that breaks off or does not end is a failure. */
export async function readText(answer: Answer, limit: number): Promise<string> {
  const { text, end, cause } = await readBody(answer.response, limit, answer.scope);
  if (end === 'whole') return text;
  if (end === 'broken') throw brokenOff(cause, answer, text);
  // It would be as large the next time.
  const problem = `the answer is larger than ${limit} bytes (maxResponseBytes).`;
  throw new ReadFailure({ ...unusable(answer, problem, text), kind: 'undecided' });
}

/** A stream of which nothing is read ahead: a slow reader slows the gateway down instead of filling memory. */
function lazyStream(source: UnderlyingDefaultSource<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** A response with another body and everything else the same. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const copy = new Response(body, response);
  // The constructor has no way to set these two.
  Object.defineProperty(copy, 'url', { value: response.url });
  Object.defineProperty(copy, 'redirected', { value: response.redirected });
  return copy;
}

/** What an answer begins with, as text too, and the answer itself, from its first byte on. */
interface Peeked {
  readonly beginning: string;
  /** Whether no byte came: text is also empty where only a byte order mark has come so far. */
  readonly isEmpty: boolean;
  readonly answer: Answer;
}

/** Looks at the beginning of a body: reads until `length` bytes are there, or it ends. */
export async function peek(answer: Answer, length = 1): Promise<Peeked> {
  const { response, scope } = answer;
  if (response.body === null) return { beginning: '', isEmpty: true, answer };
  const { reader, bytes, end, cause } = await readBytes(response.body, scope, length);
  if (end === 'broken') throw brokenOff(cause, answer);
  let pending = bytes.byteLength > 0;
  const again = lazyStream({
    async pull(controller) {
      const next = pending ? { value: bytes } : await reader?.read();
      pending = false;
      if (next?.value === undefined) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  // Files are long, and of most of them the first letters tell enough.
  const seen = length > 1 ? bytes : bytes.subarray(0, 256);
  return {
    beginning: decoder.decode(seen),
    isEmpty: bytes.byteLength === 0,
    answer: { ...answer, response: withBody(response, again) },
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
 * Hands an answer on with its body unread: as a stream that is passed on chunk by chunk, as fast as it is
 * read, that fails when it is cut or stalls, and that lets go of the call when it has ended.
 */
export function handOut(call: BodyOwner, answer: Answer): Response {
  const { response } = answer;
  const { scope } = call;
  const { idleTimeout } = call.settings;
  const { controller } = scope;
  const reader = response.body?.getReader();
  if (reader === undefined) {
    call.release({ isWhole: true });
    return response;
  }
  const expected = promisedLength(response.headers);
  let received = 0;
  let isSilent = false;
  const onSilence = (): void => {
    isSilent = true;
    controller.abort();
  };

  // A body that ignores the abort (a test's, an emulator's) still has to end.
  const stopListening = onAbort(controller.signal, () => letGo(reader));
  const end: BodyOwner['release'] = (ending) => {
    stopListening();
    call.release(ending);
  };
  scope.endAttempt();
  scope.keepAlive(false);
  const guarded = lazyStream({
    async pull(target) {
      let failure: FailedAttempt | undefined;
      scope.keepAlive(true);
      const silence = idleTimeout === null ? undefined : setTimeout(onSilence, idleTimeout);
      try {
        const { done, value } = await reader.read();
        controller.signal.throwIfAborted();
        if (!done) {
          received += value.byteLength;
          target.enqueue(value);
          return;
        }
        if (received < expected) {
          failure = unusable(answer, `the body ended after ${received} of ${expected} bytes.`);
        }
      } catch (cause) {
        const silent = `the body was silent for longer than ${idleTimeout} ms (idleTimeout).`;
        failure = isSilent
          ? unusable(answer, silent)
          : { ...unusable(answer, 'the body broke off before its end.'), cause };
      } finally {
        clearTimeout(silence);
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
  return withBody(response, guarded);
}

/** The length that a response promises; 0 when there is none, or a content coding makes it another number. */
function promisedLength(headers: Headers): number {
  const coding = headers.get('content-encoding') ?? 'identity';
  const text = headers.get('content-length') ?? '';
  return coding === 'identity' && /^\s*\d+\s*$/.test(text) ? Number(text) : 0;
}
