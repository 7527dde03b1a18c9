import { decodeBase64, typeOfBytes } from '../answers/bytes.ts';
import { parseJSON } from '../answers/objects.ts';
import type { AnswerFormat } from '../http/call.ts';
import {
  type Answer,
  ReadFailure,
  errorBodyLimit,
  handOut,
  letGo,
  peek,
  readText,
  unusable,
} from '../http/response-body.ts';
import { isPage, notAnswer, notJSON, throwIfError, typeOf } from '../http/response.ts';
import { isNode } from '../http/send.ts';

/**
 * An answer that is a file. Its beginning is looked at, and the rest handed on as a stream.
 *
 * @param fileIn - Finds the file in an answer in JSON, which holds it in base64.
 */
export function fileAnswer(
  fileIn?: (value: unknown) => string | undefined,
): AnswerFormat<Response, 'binary'> {
  return {
    kind: 'binary',
    async read(call, given) {
      let answer = given;
      try {
        let beginning: string;
        let isEmpty: boolean;
        ({ beginning, isEmpty, answer } = await peek(answer));
        if (isEmpty) throw new ReadFailure(unusable(answer, 'the file is empty.'));
        // Raw sound may begin with any bytes, so what is not labelled is a file unless it is proved not
        // to be one.
        if (/^\s*(?:[<{[]|(?:null|"")\s*$)/.test(beginning)) {
          const isLabelled = /\b(json|html)\b/.test(typeOf(answer.response));
          if (isLabelled) beginning = await readText(answer, call.settings.maxResponseBytes);
          else ({ beginning, answer } = await peek(answer, errorBodyLimit));
          const value = parseJSON(beginning);
          const base64 = isLabelled ? fileIn?.(value) : undefined;
          const file = base64 === undefined ? undefined : fromBase64(answer.response, base64);
          if (file !== undefined) return { value: file };
          if (value !== undefined) {
            throwIfError(value, answer, beginning);
            throw notAnswer(value, answer, 'the answer is JSON instead of a file.', beginning);
          }
          if (isLabelled || isPage(beginning)) throw notJSON(beginning, answer);
        }
        throwIfCoded(answer);
      } catch (error) {
        letGo(answer.response.body);
        throw error;
      }
      return { value: handOut(call, answer), stays: true };
    },
  };
}

/** The file of an answer that holds it in base64; `undefined` when that is none. */
function fromBase64(response: Response, base64: string): Response | undefined {
  const bytes = decodeBase64(base64);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const headers = new Headers(response.headers);
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  headers.set('content-type', typeOfBytes(bytes) ?? 'application/octet-stream');
  return new Response(bytes, { status: response.status, headers });
}

/** Node's `fetch` takes a coded body that ends too early for a whole one, and nothing tells of it. */
function throwIfCoded(answer: Answer): void {
  const { headers, status } = answer.response;
  const coding = headers.get('content-encoding') ?? 'identity';
  const isDownload = answer.spec.download !== undefined;
  if (!isNode || !isDownload || coding === 'identity' || status !== 200) return;
  const problem = `the file comes with content-encoding ${coding}, though it was asked for without; Node does not tell whether it is whole. asResponse() gives it as it comes.`;
  throw new ReadFailure(unusable(answer, problem));
}
