// Makes one call, and prints a line when the process exits.
import { Gateway } from '../../src/index.ts';

const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
const asStream = { ...ask, stream: true as const };
const long = { totalTimeout: 500_000 };
const short = { totalTimeout: 50 };

/** Responds with headers, and with a body that never ends and doesn't keep the process alive. */
function silent(type: string): () => Promise<Response> {
  const headers = { 'content-type': type };
  return () => Promise.resolve(new Response(new ReadableStream(), { headers }));
}

const client = new Gateway({ apiKey: 'sk-test' });
const json = client.withOptions({ fetch: silent('application/json') });
const events = client.withOptions({ fetch: silent('text/event-stream') });
const sound = client.withOptions({ fetch: () => Promise.resolve(new Response('ID3')) });

/** Opens a stream that stalls. It is referenced, so that it isn't garbage collected before the end. */
async function openStream(options: object) {
  const stream = await events.chat.completions.create(asStream, options);
  Reflect.set(globalThis, 'held', stream);
  return stream;
}

const calls: Readonly<Record<string, () => unknown>> = {
  'a call': () => void client.chat.completions.create(ask),
  'a call with a limit for all of it': () => void client.chat.completions.create(ask, long),
  'a call whose body is silent': () => void json.chat.completions.create(ask, long),
  'a call for a stream': () => void events.chat.completions.create(asStream, long),
  'an answer': async () => void (await client.chat.completions.create(ask, long).asResponse()),
  'a silent answer': async () => void (await json.chat.completions.create(ask, long).asResponse()),
  'a file': async () => void (await sound.audio.speech.create({ model: 'm', input: 'hi' }, long)),
  'a silent stream': async () => void (await openStream(long)),
  'a body that is awaited': () => json.chat.completions.create(ask, short),
  'an answer that is awaited': async () =>
    (await json.chat.completions.create(ask, short).asResponse()).text(),
  'a stream that is awaited': async () => (await openStream(short))[Symbol.asyncIterator]().next(),
};

const call = calls[process.env['CALL'] ?? ''];
if (call === undefined) throw new Error('Missing such call');
process.on('exit', () => console.log('over'));
try {
  await call();
} catch (error) {
  console.log(String(error));
}
