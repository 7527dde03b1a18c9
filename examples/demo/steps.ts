import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Gateway,
  GatewayError,
  type Image,
  StreamTruncatedError,
  toFile,
} from 'model-gateway';
import { fileFromPath, saveTo } from 'model-gateway/node';
import type { Emulator } from 'model-gateway/testing';
import type { Choice, Kind } from './models.ts';
import { print, size } from './print.ts';

/** The state shared by the steps. */
export interface DemoContext {
  readonly client: Gateway;
  readonly folder: string;
  readonly models: Choice;
  /** Missing if the demo uses a real gateway. */
  readonly emulator: Emulator | undefined;
  /** File names and descriptions, in the order of creation. */
  readonly files: Map<string, string>;
}

interface Step {
  readonly title: string;
  readonly needs: readonly Kind[];
  run(context: DemoContext): Promise<void>;
}

function modelFor(context: DemoContext, kind: Kind): string {
  const model = context.models[kind];
  if (model === undefined) throw new Error(`No model for ${kind}.`);
  return model;
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

/** Returns the bytes of an image from the response or its URL. */
async function loadImage(image: Image | undefined): Promise<Buffer> {
  if (image?.b64_json) return Buffer.from(image.b64_json, 'base64');
  if (!image?.url) throw new Error('The response does not contain an image.');
  // A plain fetch, so that the key is not sent to the image host.
  const response = await fetch(image.url);
  return Buffer.from(await response.arrayBuffer());
}

async function save(
  context: DemoContext,
  name: string,
  what: string,
  bytes: Uint8Array,
): Promise<void> {
  await writeFile(join(context.folder, name), bytes);
  context.files.set(name, what);
  print.note(`Saved ${name}, ${size(bytes.byteLength)}`);
}

const chat: Step = {
  title: 'Chat, streamed token by token',
  needs: ['chat'],
  async run(context) {
    const stream = await context.client.chat.completions.create({
      model: modelFor(context, 'chat'),
      messages: [{ role: 'user', content: 'Describe the sea in two sentences.' }],
      stream: true,
    });
    print.token('  ');
    for await (const chunk of stream) {
      print.token(chunk.choices[0]?.delta.content ?? '');
    }
    console.log();
    print.note(`${stream.usage?.total_tokens} tokens; the stream is ${stream.verdict}.`);
  },
};

const generation: Step = {
  title: "Generation in Gemini's format, streamed",
  needs: ['generation'],
  async run(context) {
    const stream = await context.client.generate.contentStream({
      model: modelFor(context, 'generation'),
      contents: 'Name three colours of autumn.',
      generationConfig: { temperature: 0.4 },
    });
    print.token('  ');
    for await (const piece of stream) print.token(piece.text ?? '');
    console.log();
  },
};

const embeddings: Step = {
  title: 'Embeddings: how similar are these sentences?',
  needs: ['embeddings'],
  async run(context) {
    const input = [
      'The cat sleeps on the sofa.',
      'A cat is asleep on the couch.',
      'The stock market fell today.',
    ];
    const params = { model: modelFor(context, 'embeddings'), input };
    const { data } = await context.client.embeddings.create(params);
    for (const { index, embedding } of data) {
      const row = data.map((other) => cosine(embedding, other.embedding).toFixed(2).padStart(5));
      print.note(`${row.join('  ')}  ${input[index]}`);
    }
    if (context.emulator === undefined) return;
    const engine = await context.client.embeddings.createForEngine(params);
    print.note(
      `The engine-style path gives ${engine.data.length} vectors too, where it is served.`,
    );
  },
};

const images: Step = {
  title: 'An image, and the same image edited behind a mask',
  needs: ['images'],
  async run(context) {
    const model = modelFor(context, 'images');
    const made = await context.client.images.generate({
      model,
      prompt: 'A lighthouse at dusk',
      size: '512x512',
    });
    const original = await loadImage(made.data[0]);
    await save(context, 'lighthouse.png', 'the generated image', original);

    const mask = await readFile(join(import.meta.dirname, 'mask.png'));
    const edited = await context.client.images.edit({
      model,
      image: await toFile(original, 'lighthouse.png'),
      mask: await toFile(mask, 'mask.png'),
      prompt: 'A full moon in the sky',
      size: '512x512',
    });
    await save(context, 'with-moon.png', 'the edited image', await loadImage(edited.data[0]));
  },
};

const speech: Step = {
  title: 'Speech to an MP3 file',
  needs: ['speech'],
  async run(context) {
    const answer = await context.client.audio.speech.create({
      model: modelFor(context, 'speech'),
      voice: 'alloy',
      input: 'The quick brown fox jumps over the lazy dog.',
    });
    const { bytes } = await saveTo(answer, join(context.folder, 'fox.mp3'));
    context.files.set('fox.mp3', 'the spoken sentence');
    print.note(`Saved fox.mp3, ${size(bytes)}, ${answer.headers.get('content-type')}`);
  },
};

const translation: Step = {
  title: 'Translation of an audio file',
  needs: ['speech', 'translation'],
  async run(context) {
    const { text } = await context.client.audio.translations.create({
      model: modelFor(context, 'translation'),
      file: await fileFromPath(join(context.folder, 'fox.mp3')),
    });
    print.note(text);
  },
};

const video: Step = {
  title: 'A video: submitted once, watched, downloaded',
  needs: ['video'],
  async run(context) {
    const start = performance.now();
    let state = 'queued';
    const show = (): void => {
      const seconds = Math.round((performance.now() - start) / 1_000);
      print.live(`${String(seconds).padStart(4)} s  ${state}`);
    };
    const ticker = print.isLive ? setInterval(show, 1_000) : undefined;
    const task = await context.client.videos
      .createAndWait(
        { model: modelFor(context, 'video'), prompt: 'A paper boat on a quiet lake', seconds: 4 },
        {
          onSubmitted: ({ id }) => print.note(`Submitted ${id}`),
          onUpdate: ({ status, progress }) => {
            state = progress === undefined ? status : `${status} ${progress} %`;
            show();
          },
        },
      )
      .finally(() => clearInterval(ticker));
    print.endLive();
    const content = await context.client.videos.downloadContent(task);
    const { bytes } = await saveTo(content, join(context.folder, 'boat.mp4'), {
      onProgress: ({ received, total }) =>
        print.live(
          `Downloaded ${size(received)}${total === undefined ? '' : ` of ${size(total)}`}`,
        ),
    });
    print.endLive();
    context.files.set('boat.mp4', 'the video');
    print.note(`Saved boat.mp4, ${size(bytes)}`);
  },
};

const trouble: Step = {
  title: 'When things break (only on the emulator)',
  needs: ['chat', 'images'],
  async run({ client, models, emulator }) {
    if (emulator === undefined) {
      print.note('Skipped: a real gateway cannot be made to fail.');
      return;
    }
    const before = emulator.charges.length;
    emulator.fail({ operation: 'images.generate', fault: { type: 'reset', when: 'after-charge' } });
    try {
      await client.images.generate({ model: models.images ?? '', prompt: 'A fox' });
    } catch (error) {
      if (!GatewayError.isInstance(error)) throw error;
      print.note(`The connection is lost right after an image was charged: ${error.name},`);
      print.note(`outcome "${error.outcome}", ${emulator.charges.length - before} charge.`);
    }

    emulator.fail({
      operation: 'chat.completions.create',
      fault: { type: 'no-finish', done: true },
    });
    try {
      const stream = await client.chat.completions.create({
        model: models.chat ?? '',
        messages: [{ role: 'user', content: 'Describe the sea.' }],
        stream: true,
      });
      for await (const _ of stream) continue;
    } catch (error) {
      if (!StreamTruncatedError.isInstance(error)) throw error;
      print.note(`A stream ends politely, but without a finish reason: ${error.name}.`);
    }
  },
};

/** The steps, in display order. */
export const steps: readonly Step[] = [
  chat,
  generation,
  embeddings,
  images,
  speech,
  translation,
  video,
  trouble,
];
