/** CORS headers that allow pages of any origin to call the emulator. */
const shared: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET,POST,PUT,DELETE,OPTIONS',
  // A wildcard does not include `Authorization`, so list the names.
  'access-control-allow-headers': 'authorization, content-type, accept',
};

/** Responds to a preflight request. */
export function preflightResponse(gatewayHeaders: Readonly<Record<string, string>> = {}): Response {
  const headers = { 'access-control-max-age': '0' };
  return withCommonHeaders(new Response(null, { status: 204, headers }), gatewayHeaders);
}

/**
 * Adds the headers of all gateway responses.
 *
 * @param gatewayHeaders - The headers of the kind of gateway. Headers that the response already has take precedence.
 */
export function withCommonHeaders(
  response: Response,
  gatewayHeaders: Readonly<Record<string, string>> = {},
): Response {
  const headers = new Headers({ ...gatewayHeaders, ...Object.fromEntries(response.headers) });
  for (const [name, value] of Object.entries(shared))
    headers.set(name, gatewayHeaders[name] ?? value);
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}
