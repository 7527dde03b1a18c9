import { routingRefusal } from './errors.ts';

const googlePaths = /^\/v1beta\/models|^\/v1beta\/openai\/models|^\/v1\/models\//;
const anthropicPaths = /\/v1\/messages|\/v1\/models/;

/** The key that a request carries and where it came from, or nothing. */
export function credentialOf(request: Request): string | undefined {
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
 * The key that counts on a path: where the gateway accepts another form than the bearer token, that
 * form wins.
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

/** Refuses a request without the right key, in the gateway's words. */
export function authenticate(request: Request, apiKey: string): void {
  const key = effectiveKey(request);
  if (key === undefined || bare(key) === '') {
    throw routingRefusal(401, '', 'Token not provided');
  }
  if (bare(key) !== bare(apiKey)) throw routingRefusal(401, '', 'Invalid token');
}
