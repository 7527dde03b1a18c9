import { extname } from 'node:path';
import type { Command } from 'commander';
import {
  GatewayError,
  PartialEmbeddingsError,
  type ImageEditParams,
  type ImageGenerateParams,
  type ImagesResponse,
} from '../index.ts';
import { command, define, withCharge, withOut, type Run } from './command.ts';
import {
  chooseTargets,
  isAddress,
  openFile,
  pictureExtension,
  save,
  type OutOptions,
  showPicture,
} from './files.ts';
import { readPrompt } from './terminal.ts';
import { beginOnce } from './records.ts';
import { collect, Exit, exitCodes, parseNumber } from './usage.ts';

interface ImageOptions extends OutOptions {
  readonly model: string;
  readonly count: number;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly callId?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly mask?: string | undefined;
}

function imageCommand(name: string, description: string, examples: readonly string[]): Command {
  const program = command(name, description, examples)
    .argument('[prompt...]', 'what to draw; what is piped in comes below it')
    .requiredOption('-m, --model <name>', 'the model')
    .option('-n, --count <number>', 'how many pictures', parseNumber(1, 10, true), 1)
    .option('--size <size>', 'such as 1024x1024')
    .option('--quality <word>', 'as the model knows it');
  return withCharge(withOut(program, 'the file, or for several pictures a folder'));
}

/** Makes pictures once, saves them, and tells where they are. */
async function makePictures(
  prompt: string,
  run: Run<ImageOptions>,
  input: object,
  make: () => PromiseLike<ImagesResponse>,
): Promise<void> {
  const { options, terminal, json } = run;
  const { callId, count, model } = options;
  const targets = await chooseTargets('image', options, count);
  const once =
    callId === undefined ? undefined : await beginOnce(callId, { model, prompt, count, ...input });
  if (once?.earlier !== undefined) {
    terminal.note(
      once.earlier === 'running'
        ? `Another run is making the call ${callId} now. Run this again when that has ended.`
        : `A first run with the call id ${callId} ended without a result: it may have been charged. ` +
            'Check the account; then choose a new call id.',
    );
    throw new Exit(exitCodes.unknown);
  }
  let paths = once?.paths;
  if (paths === undefined) {
    let response;
    try {
      const pictures = count === 1 ? 'a picture' : `${count} pictures`;
      await run.agree(`${model} makes ${pictures}, which will be charged.`);
      terminal.progress('Waiting for the picture…');
      response = await make();
    } catch (error) {
      const isFree = !GatewayError.isInstance(error) || error.outcome !== 'unknown';
      if (isFree) await once?.release();
      throw error;
    }
    run.context.isPaid = true;
    terminal.endProgress();
    const written: string[] = [];
    for (const [index, picture] of response.data.entries()) {
      const path = await targets.path(index, pictureExtension(picture.b64_json));
      const saved = await save(picture, path, terminal);
      if (saved !== undefined) written.push(saved);
    }
    paths = written;
    // A second run prints these again, and has no other copy of a data URL.
    const isKept =
      written.length === response.data.length && !written.some((path) => path.startsWith('data:'));
    const recorded = isKept ? once?.finish(written) : undefined;
    await recorded?.catch(() => {
      // The pictures are there, and their paths matter more.
      terminal.note(`The call ${callId} could not be recorded: do not run it again.`);
    });
  }
  if (json) return terminal.json({ paths });
  for (const path of paths) {
    await showPicture(path, terminal);
    terminal.line(path);
  }
}

/** `model-gateway image`. */
export function drawCommand(): Command {
  const program = imageCommand('image', 'Make pictures. Charged.', [
    'image -m gpt-image-1 "A lighthouse at dusk"',
    'image -m gpt-image-1 -n 2 --out pictures/ --call-id poster-7 "A paper boat"',
  ]);
  return define<ImageOptions>(program, async (words, run) => {
    const { options, terminal, signal } = run;
    const client = await run.client(options.model);
    const prompt = await readPrompt(words, terminal, signal);
    const { model, count, size, quality } = options;
    const params: ImageGenerateParams = { model, prompt, n: count, size, quality };
    await makePictures(prompt, run, { size, quality }, () =>
      client.images.generate(params, { signal }),
    );
  });
}

/** `model-gateway edit`. */
export function editCommand(): Command {
  const program = imageCommand('edit', 'Change a picture. Charged.', [
    'edit -m gpt-image-1 --image boat.png "Make it snow"',
    'edit -m gpt-image-1 --image room.png --mask wall.png "Paint the wall green"',
  ])
    .requiredOption(
      '--image <file>',
      'the picture, as a file or an address; again for more',
      collect,
    )
    .option('--mask <file>', 'where it may change: the transparent part of a PNG');
  return define<ImageOptions>(program, async (words, run) => {
    const { options, terminal, signal } = run;
    const client = await run.client(options.model);
    const prompt = await readPrompt(words, terminal, signal);
    const { model, count, size, quality, mask, image = [] } = options;
    const images = await Promise.all(
      image.map((path) => (isAddress(path) ? Promise.resolve(path) : openFile(path))),
    );
    const params: ImageEditParams = {
      model,
      prompt,
      n: count,
      size,
      quality,
      image: images,
      ...(mask === undefined ? {} : { mask: await openFile(mask) }),
    };
    await makePictures(prompt, run, { size, quality, image, mask }, () =>
      client.images.edit(params, { signal }),
    );
  });
}

interface SpeakOptions extends OutOptions {
  readonly model: string;
  readonly voice: string;
  readonly format: string;
  readonly speed?: number | undefined;
  readonly instructions?: string | undefined;
}

/** `model-gateway speak`. */
export function speakCommand(): Command {
  const program = command('speak', 'Turn text into speech.', [
    'speak -m tts-1 "The quick brown fox" -o fox.mp3',
    'cat story.txt | model-gateway speak -m tts-1 --voice nova',
  ])
    .argument('[text...]', 'what to say; what is piped in comes below it')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--voice <name>', 'the voice', 'alloy')
    .option('--format <name>', 'mp3, opus, aac, flac, wav or pcm', 'mp3')
    .option('--speed <number>', '0.25 to 4', parseNumber(0.25, 4))
    .option('--instructions <text>', 'how to say it, for models that listen');
  return define<SpeakOptions>(withOut(program), async (words, run) => {
    const { options, terminal, signal, context } = run;
    const { model, voice, format, speed, instructions } = options;
    const client = await run.client(model);
    const input = await readPrompt(words, terminal, signal);
    const targets = await chooseTargets('speech', options);
    context.isCharged = true;
    const extension = options.out === undefined ? format : extname(options.out).slice(1);
    const response = await client.audio.speech.create(
      { model, voice, input, response_format: format, speed, instructions },
      { signal },
    );
    const bytes = new Uint8Array(await response.arrayBuffer());
    context.isPaid = true;
    const path = await save(bytes, await targets.path(0, extension || format), terminal);
    if (path !== undefined) run.show({ path, bytes: bytes.byteLength }, [path]);
  });
}

/** `model-gateway translate`. */
export function translateCommand(): Command {
  const program = command('translate', 'Turn speech of any language into English text.', [
    'translate -m whisper-1 talk.mp3',
  ])
    .argument('<file>', 'the recording')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--prompt <text>', 'words that help, such as names');
  return define<{ model: string; prompt?: string }>(program, async ([path = ''], run) => {
    const { options, signal, context } = run;
    const { model, prompt } = options;
    const client = await run.client(model);
    const file = await openFile(path);
    context.isCharged = true;
    const params = { model, file, ...(prompt === undefined ? {} : { prompt }) };
    const translation = await client.audio.translations.create(params, { signal });
    run.show(translation, [translation.text]);
  });
}

/** `model-gateway embed`. */
export function embedCommand(): Command {
  const program = command('embed', 'Turn texts into vectors.', [
    'embed -m text-embedding-3-small "a cat on a mat" "a dog on a log"',
    'cat lines.txt | model-gateway embed -m text-embedding-3-small',
  ])
    .argument('[text...]', 'the texts; without any, the lines that are piped in')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--dimensions <number>', 'the length of a vector', parseNumber(1, 100_000, true));
  return define<{ model: string; dimensions?: number }>(program, async (words, run) => {
    const { options, terminal, signal, context } = run;
    const { model, dimensions } = options;
    const client = await run.client(model);
    const lines =
      words.length > 0 ? words : (await readPrompt([], terminal, signal)).split(/\r?\n/);
    const input = lines.filter((line) => line.trim() !== '');
    context.isCharged = true;
    const { vectors, usage } = await client.embeddings
      .createMany({ model, input, ...(dimensions === undefined ? {} : { dimensions }) }, { signal })
      .catch((error: unknown) => {
        const isPartial = PartialEmbeddingsError.isInstance(error);
        if (!isPartial || error.vectors.every((vector) => vector === undefined)) throw error;
        // These are charged.
        context.isPaid = true;
        const partial = error.vectors.map((vector) => vector && [...vector]);
        if (run.json)
          terminal.json({ error: error.message, model, vectors: partial, usage: error.usage });
        throw error;
      });
    const shown = input.map((text, index) => {
      const vector = vectors[index] ?? [];
      const start = Array.from(vector.slice(0, 4), (value) => value.toFixed(4)).join(', ');
      return `[${start}, …] ${vector.length} numbers: ${text}`;
    });
    run.show({ model, vectors: vectors.map((vector) => [...vector]), usage }, shown);
  });
}
