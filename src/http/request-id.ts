/** Response headers that hold a request id, the gateway's own first. */
const headerNames = ['x-oneapi-request-id', 'x-request-id', 'request-id', 'cf-ray'];

/** The gateway's request id, or `undefined`. Browsers cannot read the header across origins. */
export function requestIdFromHeaders(headers: Headers): string | undefined {
  for (const name of headerNames) {
    const value = headers.get(name);
    if (value !== null && value !== '') return value;
  }
  return undefined;
}

/** The request id that the gateway writes at the end of its error messages. */
export function requestIdFromMessage(message: string): string | undefined {
  return /\(request id: ([^()\s]+)\)/i.exec(message)?.[1];
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
