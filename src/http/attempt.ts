import type { PreparedBody } from './body.ts';
import type { CallScope } from './call-scope.ts';
import type { CallSpec } from './call-spec.ts';
import { classifyStatus } from './classify-status.ts';
import { classifyThrown } from './classify-throw.ts';
import { readErrorText } from './error-body.ts';
import { applyHeaders } from './headers.ts';
import type { Answer } from './promise.ts';
import { errorBodyLimit, readBounded } from './read-text.ts';
import { requestIdOf } from './request-id.ts';
import { send, type OutgoingRequest } from './send.ts';
import type { CallSettings, ClientSettings } from './settings.ts';
import type { FailedAttempt } from './to-error.ts';
import { isSameOrigin } from './url.ts';

/** What one attempt needs of its call. */
export interface AttemptInput {
  readonly spec: CallSpec;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly scope: CallScope;
  readonly url: string;
  readonly body: PreparedBody;
}

/** As many redirects of a read as browsers would follow in practice. */
const maxRedirects = 5;

/** A failure, corrected when it was we who stopped the attempt. */
export function explainStop(
  failed: FailedAttempt,
  scope: CallScope,
  settings: CallSettings,
): FailedAttempt {
  if (scope.stopped === undefined) return failed;
  if (scope.stopped === 'signal') {
    return { ...failed, kind: 'aborted', cause: scope.signal?.reason };
  }
  const timeout =
    scope.stopped === 'total' ? (settings.totalTimeout ?? settings.timeout) : settings.timeout;
  return { ...failed, kind: 'timed_out', code: undefined, cause: undefined, timeout };
}

async function headersOf(input: AttemptInput): Promise<Headers> {
  const headers = new Headers();
  headers.set('accept', input.spec.accept);
  for (const [name, value] of Object.entries(input.body.headers)) headers.set(name, value);
  headers.set('authorization', await input.client.credential.authorization());
  applyHeaders(headers, input.client.headers, 'defaultHeaders');
  applyHeaders(headers, input.spec.options?.headers, 'headers');
  return headers;
}

function isRedirect(response: Response): boolean {
  return (
    response.type === 'opaqueredirect' ||
    (response.status >= 300 && response.status < 400 && response.headers.has('location'))
  );
}

/** Lets go of a body that nobody will read, so that its connection is free again. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/**
 * Follows the redirects of a read. The key and every other header that was set stay at the origin
 * that they were meant for: the content route redirects to signed URLs of other hosts.
 */
async function followRedirects(
  first: Response,
  request: OutgoingRequest,
): Promise<Response | undefined> {
  let response = first;
  let { url, headers } = request;
  for (let hop = 0; hop < maxRedirects && isRedirect(response); hop += 1) {
    discard(response);
    let redirect: RequestRedirect = 'manual';
    if (response.type === 'opaqueredirect') {
      // Browsers do not show where it leads; they follow it and drop the key themselves.
      redirect = 'follow';
    } else {
      const next = new URL(response.headers.get('location') ?? '', url).href;
      if (!isSameOrigin(url, next)) headers = new Headers({ accept: '*/*' });
      url = next;
    }
    const result = await send({ ...request, url, headers, redirect });
    if (result.failure !== undefined) throw result.failure.error;
    response = result.response;
  }
  return isRedirect(response) ? undefined : response;
}

async function readFailure(response: Response): Promise<FailedAttempt> {
  const { text } = await readBounded(response, errorBodyLimit);
  const body = readErrorText(text);
  const { status, headers } = response;
  return {
    kind: classifyStatus(status, body, headers),
    phase: 'headers',
    status,
    headers,
    body,
    requestId: requestIdOf(headers, body.requestId),
  };
}

function redirectFailure(response: Response): FailedAttempt {
  discard(response);
  const status = response.status === 0 ? undefined : response.status;
  return { kind: 'redirected', phase: 'headers', status, headers: response.headers };
}

/**
 * Whether a redirect tells where the file is that was made: some vendors answer speech so. A redirect
 * to the same path, or one that asks to send the request again, is none of these.
 */
function leadsToFile({ spec, url }: AttemptInput, response: Response): boolean {
  const location = response.headers.get('location') ?? '';
  return (
    spec.operation === 'audio.speech.create' &&
    [301, 302, 303].includes(response.status) &&
    URL.canParse(location, url) &&
    new URL(location, url).pathname !== new URL(url).pathname
  );
}

/** Reads the file that a redirect leads to. It is paid for, so a failure must not ask for it again. */
async function fetchFile(
  input: AttemptInput,
  first: Response,
  request: OutgoingRequest,
): Promise<Answer | FailedAttempt> {
  const requestId = requestIdOf(first.headers);
  const headers = new Headers(request.headers);
  headers.delete('content-type');
  let problem = 'the file that the gateway referred to could not be read.';
  let cause: unknown;
  try {
    const read = { ...request, method: 'GET', headers, body: undefined };
    const response = await followRedirects(first, read);
    if (response?.ok === true) {
      return { response, requestId, operation: input.spec.operation, signal: request.signal };
    }
    if (response !== undefined) {
      discard(response);
      problem = `the file that the gateway referred to answered with status ${response.status}.`;
    }
  } catch (error) {
    cause = error;
  }
  const { status } = first;
  const failed = { kind: 'unusable_answer', phase: 'body', status, requestId, problem } as const;
  return explainStop({ ...failed, headers: first.headers, cause }, input.scope, input.settings);
}

/** Sends once. Gives the answer when its status is a success, and a failure otherwise. */
export async function performAttempt(input: AttemptInput): Promise<Answer | FailedAttempt> {
  const { scope, spec, settings } = input;
  if (scope.signal?.aborted === true) {
    return { kind: 'aborted_before_send', phase: 'local', cause: scope.signal.reason };
  }
  let headers: Headers;
  try {
    headers = await headersOf(input);
  } catch (cause) {
    return { kind: 'invalid_input', phase: 'local', cause };
  }
  const request: OutgoingRequest = {
    url: input.url,
    method: spec.method,
    headers,
    body: input.body.body,
    redirect: 'manual',
    signal: scope.startAttempt(settings.timeout),
    fetch: input.client.fetch,
    fetchOptions: { ...input.client.fetchOptions, ...spec.options?.fetchOptions },
  };
  const result = await send(request);
  if (result.failure !== undefined) {
    const { error, dispatched } = result.failure;
    if (!dispatched && scope.stopped === undefined) {
      return { kind: 'invalid_input', phase: 'local', cause: error };
    }
    const sourceError = input.body.sourceError?.();
    if (sourceError !== undefined && scope.stopped === undefined) {
      return { kind: 'invalid_input', phase: 'local', cause: sourceError };
    }
    return explainStop(classifyThrown(error), scope, settings);
  }
  try {
    return await settle(input, result.response, request);
  } catch (error) {
    return explainStop(classifyThrown(error), scope, settings);
  }
}

async function settle(
  input: AttemptInput,
  first: Response,
  request: OutgoingRequest,
): Promise<Answer | FailedAttempt> {
  let response = first;
  if (isRedirect(first)) {
    if (leadsToFile(input, first)) return fetchFile(input, first, request);
    if (request.method !== 'GET') return redirectFailure(first);
    const final = await followRedirects(first, request);
    if (final === undefined) return redirectFailure(first);
    response = final;
  }
  if (!response.ok) return readFailure(response);
  const requestId = requestIdOf(response.headers);
  return { response, requestId, operation: input.spec.operation, signal: request.signal };
}
