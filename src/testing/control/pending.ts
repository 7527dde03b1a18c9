import type { Quirks } from '../faults/quirks.ts';

/** Returns the 202 of a gateway that has no status for pending tasks; `undefined` if it has one. */
export function pendingResponse({ taskPending }: Readonly<Quirks>): Response | undefined {
  const headers = { 'retry-after': '2' };
  switch (taskPending) {
    case 'status':
      return undefined;
    case 'empty':
      return new Response(null, { status: 202, headers });
    case 'null':
      return Response.json(null, { status: 202, headers });
    case 'text':
      return new Response('Accepted', { status: 202, headers });
    case 'page': {
      const page = '<!doctype html><title>Please wait</title>';
      const type = { 'content-type': 'text/html' };
      return new Response(page, { status: 202, headers: { ...headers, ...type } });
    }
  }
}
