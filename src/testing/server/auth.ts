import { routingRefusal } from './errors.ts';

const googlePaths = /^\/v1beta\/models|^\/v1beta\/openai\/models|^\/v1\/models\//;
const anthropicPaths = /\/v1\/messages|\/v1\/models/;

/** Returns the credential of a request, from a header or the query. */
export function readCredential(request: Request): string | undefined {
  const { headers } = request;
  const query = new URL(request.url).searchParams;
  return (
    headers.get('authorization') ??
    headers.get('x-api-key') ??
    headers.get('x-goog-api-key') ??
    query.get('key') ??
    undefined
  );
}

/**
 * Returns the key that the gateway uses on a path: where it accepts other forms than the bearer token,
 * those take precedence.
 */
function effectiveKey(request: Request): string | undefined {
  const { headers } = request;
  const url = new URL(request.url);
  const google = googlePaths.test(url.pathname)
    ? (headers.get('x-goog-api-key') ?? url.searchParams.get('key'))
    : null;
  const anthropic = anthropicPaths.test(url.pathname) ? headers.get('x-api-key') : null;
  const bearer = headers.get('authorization')?.replace(/^bearer\s+/i, '');
  return google ?? anthropic ?? bearer;
}

const bare = (key: string): string => key.trim().replace(/^sk-/, '');

/** Throws the gateway's error unless the request has the right key. */
export function authenticate(request: Request, apiKey: string): void {
  const key = effectiveKey(request);
  if (key === undefined || bare(key) === '') {
    throw routingRefusal(401, '', 'Token not provided');
  }
  if (bare(key) !== bare(apiKey)) throw routingRefusal(401, '', 'Invalid token');
}
