/** CORS headers that allow pages of any origin to call the emulator. */
const shared: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET,POST,PUT,DELETE,OPTIONS',
  // A wildcard does not include `Authorization`, so list the names.
  'access-control-allow-headers': 'authorization, content-type, accept',
};

/** Responds to a preflight request. */
export function preflightResponse(requestId: string | undefined): Response {
  const headers = { 'access-control-max-age': '0' };
  return withCommonHeaders(new Response(null, { status: 204, headers }), requestId);
}

/** Adds the headers of all gateway responses. */
export function withCommonHeaders(response: Response, requestId: string | undefined): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(shared)) headers.set(name, value);
  if (requestId !== undefined && !headers.has('x-oneapi-request-id')) {
    headers.set('x-oneapi-request-id', requestId);
  }
  headers.set('x-new-api-version', 'emulator');
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}
