import { send } from '../../src/http/send.ts';

// The first request of a process loads ky. Fake timers cannot wait for that, so it is done before.
await send({
  url: 'https://gateway.test',
  method: 'GET',
  headers: new Headers(),
  body: undefined,
  redirect: 'manual',
  signal: new AbortController().signal,
  fetch: () => Promise.resolve(new Response()),
  fetchOptions: undefined,
  isSent: false,
});
