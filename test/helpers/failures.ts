/** Node's error with a code, for a connection to the tests' gateway. */
export function fetchFailure(code: string, syscall?: string): TypeError {
  const cause = Object.assign(new Error(code), {
    code,
    hostname: 'gateway.test',
    ...(syscall === undefined ? {} : { syscall }),
  });
  return new TypeError('fetch failed', { cause });
}

/** A response whose body is cut after some text. */
export function cutResponse(text: string, init?: ResponseInit): Response {
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isSent) controller.error(new TypeError('terminated'));
      else controller.enqueue(new TextEncoder().encode(text));
      isSent = true;
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' }, ...init });
}

/** A response whose body stalls after some text, and ignores every abort. */
export function silentResponse(text: string, init?: ResponseInit, onCancel?: () => void): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel: () => onCancel?.(),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' }, ...init });
}

/** Never settles, like a request that ignores its signal. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
