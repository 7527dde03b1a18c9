/** CORS headers that allow pages of any origin to call the emulator. */
const shared: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET,POST,PUT,DELETE,OPTIONS',
  // A wildcard does not include `Authorization`, so list the names.
  'access-control-allow-headers': 'authorization, content-type, accept',
};

/** Responds to a preflight request. */
export function preflightResponse(own: Readonly<Record<string, string>> = {}): Response {
  const headers = { 'access-control-max-age': '0' };
  return withCommonHeaders(new Response(null, { status: 204, headers }), own);
}

/**
 * Adds the headers of all gateway responses.
 *
 * @param own - The headers of the kind of gateway. Headers that the response already has take precedence.
 */
export function withCommonHeaders(
  response: Response,
  own: Readonly<Record<string, string>> = {},
): Response {
  const headers = new Headers({ ...own, ...Object.fromEntries(response.headers) });
  for (const [name, value] of Object.entries(shared)) headers.set(name, own[name] ?? value);
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}
