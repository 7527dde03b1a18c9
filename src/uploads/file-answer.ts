import { decodeBytes, detectType } from '../answers/bytes.ts';
import { parseJSON } from '../answers/objects.ts';
import type { AnswerFormat } from '../calls/request.ts';
import {
  type Answer,
  ReadFailure,
  errorBodyLimit,
  exposeResponse,
  discardBody,
  peek,
  readText,
  unusable,
} from '../http/response-body.ts';
import {
  isHTMLPage,
  notResult,
  notJSON,
  throwIfError,
  readContentType,
} from '../calls/response.ts';
import { isNode } from '../http/send.ts';

/**
 * Reads a response that is a file. Inspects its beginning and streams the rest.
 *
 * @param fileIn - Finds the file in a JSON response, as base64 or hexadecimal digits.
 */
/* @__NO_SIDE_EFFECTS__ */
export function fileAnswer(
  findFile?: (value: unknown) => string | undefined,
): AnswerFormat<Response, 'binary'> {
  return {
    kind: 'binary',
    async read(request, given) {
      let answer = given;
      try {
        let beginning: string;
        let isEmpty: boolean;
        ({ beginning, isEmpty, answer } = await peek(answer));
        if (isEmpty) throw new ReadFailure(unusable(answer, 'the file is empty.'));
        // Raw audio may begin with any bytes, so an unlabelled body is a file unless it is provably something
        // else.
        if (/^\s*(?:[<{[]|(?:null|"")\s*$)/.test(beginning)) {
          const isLabelled = /\b(json|html)\b/.test(readContentType(answer.response));
          if (isLabelled) beginning = await readText(answer, request.settings.maxResponseBytes);
          else ({ beginning, answer } = await peek(answer, errorBodyLimit));
          const value = parseJSON(beginning);
          const base64 = isLabelled ? findFile?.(value) : undefined;
          const file = base64 === undefined ? undefined : fromText(answer.response, base64);
          if (file !== undefined) return { value: file };
          if (value !== undefined) {
            throwIfError(value, answer, beginning);
            throw notResult(value, answer, 'the response is JSON instead of a file.', beginning);
          }
          if (isLabelled || isHTMLPage(beginning)) throw notJSON(beginning, answer);
        }
        rejectEncodedDownload(answer);
      } catch (error) {
        discardBody(answer.response.body);
        throw error;
      }
      return { value: exposeResponse(request, answer), stays: true };
    },
  };
}

/** Decodes hexadecimal digits; `undefined` unless they are a file of a known format, because base64 may look alike. */
function decodeHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 2 !== 0 || !/^[\da-f]+$/i.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  }
  return detectType(bytes) === undefined ? undefined : bytes;
}

/** Returns the file in a JSON response; `undefined` if it is neither base64 nor hexadecimal. */
function fromText(response: Response, text: string): Response | undefined {
  const bytes = decodeHex(text) ?? decodeBytes(text)?.bytes;
  if (bytes === undefined) return undefined;
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  headers.set('content-type', detectType(bytes) ?? 'application/octet-stream');
  return new Response(bytes, { status: response.status, headers });
}

/** Rejects encoded downloads, because Node's `fetch` does not detect that an encoded body was cut. */
function rejectEncodedDownload(answer: Answer): void {
  const { headers, status } = answer.response;
  const coding = headers.get('content-encoding') ?? 'identity';
  const isDownload = answer.spec.download !== undefined;
  if (!isNode || !isDownload || coding === 'identity' || status !== 200) return;
  const problem = `the file has content-encoding ${coding}, although none was requested; Node cannot detect whether it is complete. asResponse() returns it unchanged.`;
  throw new ReadFailure(unusable(answer, problem));
}
