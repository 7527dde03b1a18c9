import { endpoints } from 'model-gateway';
import { assert, equal, includes } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor, fresh, type Remote } from '../harness/emulator.ts';
import { isPage } from '../harness/world.ts';
import { isMp4, pngBytes, wavBytes } from './media.ts';

const model = 'm-large';
const messages = [{ role: 'user' as const, content: 'Say hello' }];

/** Operations that a check before the last one has used. */
const used = new Set<string>();

async function note(remote: Remote): Promise<void> {
  for (const { operation } of await remote.requests()) used.add(operation ?? '');
}

/** Every documented operation, called once as a user would. */
export const operationChecks: readonly Check[] = [
  {
    name: 'models: list, as a page and one by one, and one alone',
    async run(world) {
      const { client, remote } = await fresh(world);
      const page = await client.models.list();
      assert(page.data.length > 3, 'The list is short');
      const ids: string[] = [];
      for await (const { id } of client.models.list()) ids.push(id);
      equal(
        ids,
        page.data.map(({ id }) => id),
        'both ways',
      );
      equal((await client.models.retrieve('m-large')).id, 'm-large', 'one alone');
      await note(remote);
    },
  },
  {
    name: 'chat: whole answer, usage, response and request id',
    async run(world) {
      const { client, remote } = await fresh(world);
      const call = client.chat.completions.create({ model, messages, max_tokens: 50 });
      const { data, response, request_id: requestId } = await call.withResponse();
      assert((data.choices[0]?.message.content ?? '') !== '', 'Missing text');
      assert((data.usage?.total_tokens ?? 0) > 0, 'Missing usage');
      equal(response.status, 200, 'status');
      // The gateway does not let pages of another origin read its headers.
      equal(requestId === null, isPage(world), 'whether the request id is hidden');
      const raw = await client.chat.completions.create({ model, messages }).asResponse();
      includes(await raw.text(), '"choices"', 'the raw body');
      await note(remote);
    },
  },
  {
    name: 'chat: streamed answer',
    async run(world) {
      const { client, remote } = await fresh(world);
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      assert(text.length > 0, 'Missing text');
      await note(remote);
    },
  },
  {
    name: 'chat: stream helper with events and final completion',
    async run(world) {
      const { client } = await fresh(world);
      const stream = client.chat.completions.stream({ model, messages });
      let text = '';
      stream.on('content', (delta) => {
        text += delta;
      });
      const completion = await stream.finalChatCompletion();
      equal(text, completion.choices[0]?.message.content, 'the deltas together');
      assert((await stream.totalUsage()).total_tokens > 0, 'Missing usage');
    },
  },
  {
    name: 'generate: whole and streamed',
    async run(world) {
      const { client, remote } = await fresh(world);
      const answer = await client.generate.content({ model: 'm-flash', contents: 'Say hello' });
      assert((answer.text ?? '') !== '', 'Missing text');
      const stream = await client.generate.contentStream({
        model: 'm-flash',
        contents: 'Say hello',
      });
      let text = '';
      for await (const chunk of stream) text += chunk.text ?? '';
      assert(text !== '', 'The stream has no text');
      await note(remote);
    },
  },
  {
    name: 'responses: whole and streamed',
    async run(world) {
      const { client, remote } = await fresh(world);
      const answer = await client.responses.create({ model, input: 'Say hello' });
      assert(answer.output_text !== '', 'Missing text');
      const events = await client.responses.create({ model, input: 'Say hello', stream: true });
      let text = '';
      for await (const event of events) {
        if (event.type === 'response.output_text.delta') text += event.delta;
      }
      assert(text !== '', 'The stream has no text');
      await note(remote);
    },
  },
  {
    name: 'embeddings: both paths, numbers and base64',
    async run(world) {
      const { client, remote } = await fresh(world);
      const params = { model: 'm-embedding', input: ['first', 'second'] };
      const { data } = await client.embeddings.create(params);
      equal(
        data.map(({ index }) => index),
        [0, 1],
        'order',
      );
      assert(typeof data[0]?.embedding[0] === 'number', 'The vector holds no numbers');
      const encoded = await client.embeddings.create({ ...params, encoding_format: 'base64' });
      equal(typeof encoded.data[0]?.embedding, 'string', 'type of a base64 vector');
      // Only old builds serve this path.
      await remote.quirks({ enginePath: 'embeddings' });
      const engine = await client.embeddings.createForEngine(params);
      equal(engine.data.length, 2, 'vectors on the engine path');
      await note(remote);
    },
  },
  {
    name: 'messages: by their path, whole and streamed',
    async run(world) {
      const { client, remote } = await fresh(world);
      const body = { model, max_tokens: 50, messages };
      const { content } = await client.post<{ content: unknown[] }>('/v1/messages', { body });
      equal(content.length, 1, 'blocks');
      const streamed = { ...body, stream: true };
      const types: unknown[] = [];
      for await (const event of await client.post('/v1/messages', {
        body: streamed,
        stream: true,
      })) {
        types.push(Object(event).type);
      }
      equal(types.at(-1), 'message_stop', 'the last event');
      await note(remote);
    },
  },
  {
    name: 'rerank: by its path',
    async run(world) {
      const { client, remote } = await fresh(world);
      const body = { model: 'm-rerank', query: 'cats', documents: ['a cat', 'a dog'] };
      const { results } = await client.post<{ results: unknown[] }>('/v1/rerank', { body });
      equal(results.length, 2, 'results');
      await note(remote);
    },
  },
  {
    name: 'images: generate, edit with a file and by reference',
    async run(world) {
      const { client, remote } = await fresh(world);
      const prompt = 'A red circle';
      const made = await client.images.generate({ model: 'm-image', prompt, n: 2 });
      equal(made.data.length, 2, 'images');
      const image = new File([pngBytes()], 'cat.png', { type: 'image/png' });
      await client.images.edit({ model: 'm-image', prompt, image });
      const reference = `data:image/png;base64,${btoa(String.fromCharCode(...pngBytes()))}`;
      await client.images.edit({ model: 'm-image', prompt, image: reference });
      const kinds = (await remote.requests()).map(({ body }) => body.kind);
      equal(kinds, ['json', 'multipart', 'json'], 'bodies');
      equal(await remote.charges(), 3, 'charges');
      await note(remote);
    },
  },
  {
    name: 'audio: speech, translation as object and as text, transcription whole and streamed',
    async run(world) {
      const { client, remote } = await fresh(world);
      const speech = await client.audio.speech.create({
        model: 'm-speech',
        voice: 'alloy',
        input: 'Hello there',
      });
      const audio = await speech.arrayBuffer();
      assert(audio.byteLength > 100, 'Missing audio');
      const file = new File([wavBytes(1)], 'sound.wav', { type: 'audio/wav' });
      const object = await client.audio.translations.create({ model: 'm-translation', file });
      assert(object.text !== '', 'Missing text');
      const text = await client.audio.translations.create({
        model: 'm-translation',
        file,
        response_format: 'srt',
      });
      includes(text, '-->', 'subtitles');
      const heard = { model: 'gpt-4o-transcribe', file };
      const whole = await client.audio.transcriptions.create(heard);
      let pieces = '';
      for await (const event of await client.audio.transcriptions.create({
        ...heard,
        stream: true,
      })) {
        if (event.type === 'transcript.text.delta') pieces += event.delta;
      }
      equal(pieces, whole.text, 'the streamed text');
      await note(remote);
    },
  },
  {
    name: 'videos: create, retrieve, vendor route, content, remix',
    async run(world) {
      const { client, remote } = await fresh(world);
      const task = await client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 4 });
      equal(task.status, 'queued', 'first status');
      await remote.clock({ advance: 60_000 });
      const done = await client.videos.retrieve(task.ref);
      equal(done.status, 'completed', 'last status');
      const vendor = await client.videos.retrieveFromVendor({
        vendorPrefix: 'kling',
        taskId: task.id,
      });
      equal(vendor.status, 'completed', 'status on the vendor route');
      const content = await client.videos.downloadContent(task.id);
      assert(isMp4(new Uint8Array(await content.arrayBuffer())), 'The content is not an MP4');
      const remix = await client.videos.remix(task.id, { prompt: 'At night' });
      assert(remix.id !== task.id, 'The remix has the id of its original');
      equal(await remote.charges(), 2, 'charges');
      await note(remote);
    },
  },
  {
    name: 'videos: create and wait, charged once',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.clock({ speed: 20 });
      let saved = '';
      const task = await client.videos.createAndWait(
        { model: 'm-video', prompt: 'A boat' },
        {
          interval: 250,
          onSubmitted(ref) {
            saved = JSON.stringify(ref);
          },
        },
      );
      equal(task.status, 'completed', 'status');
      includes(saved, task.id, 'the handle');
      equal(await remote.charges(), 1, 'charges');
    },
  },
  {
    name: 'routes that have no method: get, post',
    async run(world) {
      const { client } = await fresh(world);
      const list = await client.get('/v1/models');
      includes(JSON.stringify(list), model, 'the list');
      const answer = await client.post('/v1/chat/completions', { body: { model, messages } });
      includes(JSON.stringify(answer), 'choices', 'the answer');
    },
  },
  {
    name: 'every documented operation was called',
    async run({ third }) {
      // Deno, Bun, workerd and Chromium always run every check.
      if (third !== undefined) return Promise.resolve('not in a third');
      const missing = Object.keys(endpoints).filter((name) => !used.has(name));
      equal(missing, [], 'operations that were not called');
      return Promise.resolve(`${used.size} operations`);
    },
  },
  {
    name: 'two clients at once, 20 calls each',
    async run(world) {
      const { remote } = await fresh(world);
      const clients = [clientFor(world), clientFor(world)];
      const calls = Array.from({ length: 20 }, () =>
        clients.map((client) => client.chat.completions.create({ model, messages })),
      ).flat();
      const answers = await Promise.all(calls);
      equal(new Set(answers.map(({ id }) => id)).size, 40, 'different answers');
      equal((await remote.requests()).length, 40, 'requests');
    },
  },
];
