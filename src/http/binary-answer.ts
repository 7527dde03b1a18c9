import { decodeBase64 } from '../answers/base64.ts';
import { parseJSON } from '../answers/objects.ts';
import { typeOfBytes } from '../answers/file-type.ts';
import { rawAnswer } from './guard-body.ts';
import type { LogicalCall } from './logical-call.ts';
import { beginningOf, peek } from './peek.ts';
import type { Answer } from './promise.ts';
import {
  brokenOff,
  isPage,
  notAnswer,
  notJSON,
  parseAnswer,
  ReadFailure,
  readText,
  throwIfError,
  unusable,
} from './read-answer.ts';
import { errorBodyLimit } from './read-text.ts';
import { cancelBody, isNode } from './send.ts';

/**
 * Complains of an answer that begins like JSON or like a page, unless it is a file after all: raw sound
 * may begin with any bytes.
 */
function throwUnlessFile(text: string, answer: Answer): void {
  const value = parseAnswer(text.trim());
  if (value === undefined) {
    if (isPage(text)) throw notJSON(text, answer);
    return;
  }
  throwIfError(value, answer, text);
  throw notAnswer(value, answer, 'the answer is JSON instead of a file.', text);
}

/** Finds the file that an answer in JSON holds in base64. */
export type FileInJSON = (value: unknown) => string | undefined;

/** The file of an answer that holds it in base64; `undefined` when that is none. */
function fromBase64({ response }: Answer, base64: string): Response | undefined {
  const bytes = decodeBase64(base64);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  headers.set('content-type', typeOfBytes(bytes) ?? 'application/octet-stream');
  return new Response(bytes, { status: response.status, headers });
}

/** Reads what begins like JSON or a page: the file that it holds, or what is wrong with it. */
async function readLabelled(
  call: LogicalCall,
  answer: Answer,
  fileIn: FileInJSON | undefined,
): Promise<{ value: Response }> {
  const text = await readText(answer, call.settings.maxResponseBytes);
  const base64 = fileIn?.(parseJSON(text));
  const value = base64 === undefined ? undefined : fromBase64(answer, base64);
  if (value !== undefined) return { value };
  throwUnlessFile(text, answer);
  throw notJSON(text, answer);
}

/** Node's `fetch` takes a coded body that ends too early for a whole one, and nothing tells of it. */
function throwIfCoded({ spec }: LogicalCall, answer: Answer): void {
  const { headers, status } = answer.response;
  const coding = headers.get('content-encoding') ?? 'identity';
  if (!isNode || spec.download === undefined || coding === 'identity' || status !== 200) return;
  const problem = `the file comes with content-encoding ${coding}, though it was asked for without; Node does not tell whether it is whole. asResponse() gives it as it comes.`;
  throw new ReadFailure(unusable(answer, problem));
}

/** Checks the beginning of a file answer and hands the rest on as a stream. */
export async function binaryAnswer(
  call: LogicalCall,
  answer: Answer,
  fileIn?: FileInJSON,
): Promise<{ value: Response; stays?: true }> {
  let { response } = answer;
  try {
    let first: Uint8Array;
    ({ first, response } = await peek(response, answer.signal));
    if (first.byteLength === 0) throw new ReadFailure(unusable(answer, 'the file is empty.'));
    if (/^(?:[<{[]|(?:null|"")\s*$)/.test(beginningOf(first))) {
      if (/\b(json|html)\b/i.test(response.headers.get('content-type') ?? '')) {
        return await readLabelled(call, { ...answer, response }, fileIn);
      }
      ({ first, response } = await peek(response, answer.signal, errorBodyLimit));
      throwUnlessFile(new TextDecoder().decode(first), answer);
    }
    throwIfCoded(call, answer);
  } catch (cause) {
    cancelBody(response);
    throw brokenOff(cause, answer);
  }
  return { value: rawAnswer(call, { ...answer, response }), stays: true };
}
