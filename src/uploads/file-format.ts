import { decodeBytes, decodeHex, detectType, isHex } from '../answers/bytes.ts';
import { isHTMLPage, readPlainText } from '../answers/failure.ts';
import { errorMessage, parseJSON } from '../answers/objects.ts';
import { describeText } from '../answers/received-file.ts';
import type { ResultFormat, GatewayRequest } from '../calls/gateway-request.ts';
import {
  type IncomingResponse,
  ReadFailure,
  errorBodyLimit,
  exposeResponse,
  discardBody,
  peekBody,
  readText,
  unusable,
} from '../http/responses/response-body.ts';
import { APIUserAbortError } from '../errors/api-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { displayURL } from '../http/url.ts';
import { detectFormat, lacking, notJSON, readContentType } from '../calls/response.ts';
import { isNode } from '../http/send.ts';
import { checkEnd } from './file-end.ts';

/** Finds a file in a response that is not the file itself. */
export interface FileSearch {
  /** Returns the files in a JSON response: base64, hexadecimal digits or URLs. */
  readonly find: (value: unknown) => readonly string[];
  /** Fetches a file by its URL. Rejects with the reason. */
  readonly fetch: (url: string, request: GatewayRequest) => Promise<Response>;
  /** Assembles the file, or finds its URL, in an event stream. */
  readonly collect: (
    request: GatewayRequest,
    incoming: IncomingResponse,
  ) => Promise<Uint8Array<ArrayBuffer> | string>;
}

/** The beginning of a JSON object. */
const objectStart = /^\s*\{\s*"[\w.-]+"\s*:/;

/**
 * Reads a response that is a file. Inspects its beginning and streams the rest.
 *
 * @param search - Finds the file in JSON and in event streams.
 */
/* @__NO_SIDE_EFFECTS__ */
export function fileFormat(search?: FileSearch): ResultFormat<Response, 'binary'> {
  return {
    kind: 'binary',
    async read(request, given) {
      let incoming = given;
      try {
        let beginning: string;
        let isEmpty: boolean;
        ({ beginning, isEmpty, incoming } = await peekBody(incoming));
        if (isEmpty) throw new ReadFailure(unusable(incoming, 'the file is empty.'));
        // The rest of a file may begin with any bytes, and may be blank.
        const isRest = incoming.response.status === 206;
        if (!isRest && beginning.trim() === '') {
          ({ beginning, incoming } = await peekBody(incoming, errorBodyLimit));
          if (beginning.trim() === '') throw notJSON(beginning, incoming);
        }
        const type = readContentType(incoming.response);
        if (search !== undefined && isStream(beginning, type)) {
          request.scope.clearLimits();
          return { value: await collectFile(request, incoming, search) };
        }
        // Raw audio may begin with any bytes, so an unlabelled body is a file unless it is provably something
        // else.
        const isString = search !== undefined && type.includes('json') && /^\s*"/.test(beginning);
        if (!isRest && (isString || /^\s*(?:[<{[]|(?:null|"")\s*$)/.test(beginning))) {
          const isLabelled = /\b(json|html)\b/.test(type);
          const limit = request.settings.maxResponseBytes;
          const peeked = objectStart.test(beginning) ? limit : errorBodyLimit;
          if (isLabelled) beginning = await readText(incoming, limit);
          else ({ beginning, incoming } = await peekBody(incoming, peeked));
          const value = parseJSON(beginning);
          const file = search && (await searchFile(request, incoming, search, value, beginning));
          if (file !== undefined) return { value: file };
          if (value !== undefined) {
            throw lacking(value, incoming, 'the response is JSON instead of a file.', beginning);
          }
          if (isLabelled || isHTMLPage(beginning)) throw notJSON(beginning, incoming);
          const isXML = /^(application|text)\/xml\b/.test(type);
          const content = describeText(beginning) ?? (isXML ? 'XML' : undefined);
          if (content !== undefined) {
            const problem = `the response is ${content} instead of a file.`;
            throw new ReadFailure({
              ...unusable(incoming, problem, beginning),
              body: readPlainText(beginning),
            });
          }
        }
        rejectEncodedDownload(incoming);
      } catch (error) {
        discardBody(incoming.response.body);
        throw error;
      }
      return { value: exposeResponse(request, incoming, checkEnd(incoming)), stays: true };
    },
  };
}

/** Returns whether a response is an event stream, whatever its content type says. */
function isStream(beginning: string, type: string): boolean {
  if (detectFormat(beginning) !== 'events') return false;
  return type.includes('event-stream') || /^\s*(event|data): *(\{|[\w.]+\s*\n)/.test(beginning);
}

/** Returns the file that an event stream holds in pieces. */
async function collectFile(
  request: GatewayRequest,
  incoming: IncomingResponse,
  search: FileSearch,
): Promise<Response> {
  const file = await search.collect(request, incoming);
  if (typeof file !== 'string') return toResponse(incoming.response, file);
  return fetchFile(request, incoming, search, file, undefined);
}

/** Returns the file in a JSON response; `undefined` if there is none. */
async function searchFile(
  request: GatewayRequest,
  incoming: IncomingResponse,
  search: FileSearch,
  value: unknown,
  text: string,
): Promise<Response | undefined> {
  for (const file of search.find(value)) {
    if (/^https?:/i.test(file)) return fetchFile(request, incoming, search, file, text);
    const digits = fromHex(file);
    const { bytes, type } = digits === undefined ? (decodeBytes(file) ?? {}) : { bytes: digits };
    if (bytes !== undefined) return toResponse(incoming.response, bytes, type);
  }
  return undefined;
}

/** Fetches the file at a URL in a response. It is paid for, so a failure must not repeat the request. */
async function fetchFile(
  request: GatewayRequest,
  incoming: IncomingResponse,
  { fetch }: FileSearch,
  url: string,
  text: string | undefined,
): Promise<Response> {
  request.scope.endAttempt();
  try {
    const file = await fetch(url, request);
    const headers = new Headers(incoming.response.headers);
    for (const name of contentHeaders) {
      const fileValue = file.headers.get(name);
      if (fileValue === null) headers.delete(name);
      else headers.set(name, fileValue);
    }
    return new Response(file.body, { status: 200, headers });
  } catch (cause) {
    if (APIUserAbortError.isInstance(cause)) throw cause;
    const problem = `the file at ${displayURL(url)} could not be fetched: ${describe(cause)}`;
    throw new ReadFailure({
      ...unusable(incoming, problem, text ?? JSON.stringify({ url })),
      cause,
    });
  }
}

const describe = (error: unknown): string =>
  GatewayError.isInstance(error) ? error.summary : errorMessage(error);

/** Headers that describe the body of a response. */
const contentHeaders = [
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
];

/** Decodes hexadecimal digits, unless they may be base64. */
function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeHex(text);
  const isCertain = bytes !== undefined && (isHex(text) || detectType(bytes) !== undefined);
  return isCertain ? bytes : undefined;
}

/**
 * Returns a response with bytes as its body.
 *
 * @param type - The type that the gateway sent, for bytes without a signature, such as raw samples.
 */
function toResponse(
  response: Response,
  bytes: Uint8Array<ArrayBuffer>,
  type = 'application/octet-stream',
): Response {
  const headers = new Headers(response.headers);
  for (const name of contentHeaders) headers.delete(name);
  headers.set('content-type', detectType(bytes) ?? type);
  return new Response(bytes, { status: response.status, headers });
}

/** Rejects encoded downloads, because Node's `fetch` does not detect that an encoded body was cut. */
function rejectEncodedDownload(incoming: IncomingResponse): void {
  const { headers, status } = incoming.response;
  const coding = headers.get('content-encoding') ?? 'identity';
  const isDownload = incoming.spec.download !== undefined;
  if (!isNode || !isDownload || coding === 'identity' || status !== 200) return;
  const problem = `the file has content-encoding ${coding}, although none was requested; Node cannot detect whether it is complete. asResponse() returns it unchanged.`;
  throw new ReadFailure(unusable(incoming, problem));
}
