import { decodeBase64, detectType } from '../answers/bytes.ts';
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
 * @param fileIn - Finds the base64 file in a JSON response.
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
          const file = base64 === undefined ? undefined : fromBase64(answer.response, base64);
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

/** Returns the file in a JSON response; `undefined` if it is not base64. */
function fromBase64(response: Response, base64: string): Response | undefined {
  const bytes = decodeBase64(base64);
  if (bytes === undefined || bytes.length === 0) return undefined;
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
