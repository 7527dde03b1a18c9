/** Response headers that hold a request id of the gateway. */
const headerNames = ['x-oneapi-request-id', 'x-request-id', 'request-id', 'x-litellm-call-id'];

/** The header of a proxy in front; better than nothing, as its operator can look the call up. */
const proxyHeaderName = 'cf-ray';

function firstHeader(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null && value !== '') return value;
  }
  return undefined;
}

/**
 * The request id of an answer: the gateway's header, else the one in its message (browsers cannot
 * read the header across origins), else that of a proxy.
 */
export function requestIdOf(headers: Headers, fromMessage?: string): string | undefined {
  return (
    firstHeader(headers, headerNames) ?? fromMessage ?? firstHeader(headers, [proxyHeaderName])
  );
}

/** Adds `_request_id` to an answer, as the `openai` package does; arrays and primitives are left alone. */
export function attachRequestId(value: unknown, requestId: string | undefined): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  Object.defineProperty(value, '_request_id', {
    value: requestId ?? null,
    enumerable: false,
    configurable: true,
  });
}
