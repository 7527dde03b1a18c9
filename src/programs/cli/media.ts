import { access, copyFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import type { Command } from 'commander';
import {
  GatewayError,
  PartialEmbeddingsError,
  type ImageEditInput,
  type ImageGenerateInput,
  type ImageRequestOptions,
  type ImagesResponse,
} from '../../index.ts';
import { command, define, withCharge, withOut, withResend, type Run } from './command.ts';
import {
  chooseTargets,
  isAddress,
  openFile,
  imageExtension,
  noteOddFile,
  noteOtherFormat,
  noteRemark,
  save,
  type OutOptions,
  showImage,
} from './files.ts';
import { readPrompt } from './terminal.ts';
import { readPaidFile } from '../unread.ts';
import { beginOnce } from './records.ts';
import { collect, Exit, exitCodes, parseNumber, UsageError } from './usage.ts';

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
    .argument(
      '[prompt...]',
      'the prompt; - appends standard input, which is also read without a prompt',
    )
    .requiredOption('-m, --model <name>', 'the model')
    .option('-n, --count <number>', 'the number of images', parseNumber(1, 10, true), 1)
    .option('--size <size>', 'such as 1024x1024')
    .option('--quality <word>', 'a value that the model supports');
  return withCharge(withOut(program, 'the output file, or a folder for several images'));
}

/** Returns the files of an earlier run, or copies of them in `--out`. */
async function reuseImages(
  paths: readonly string[],
  { options, terminal }: Run<ImageOptions>,
): Promise<readonly string[]> {
  const files = paths.filter((path) => !isAddress(path));
  for (const file of files) {
    await access(file).catch(() => {
      terminal.note(
        `The call ${options.callId} was charged before, and its file ${file} is gone. ` +
          'Choose a new call id for another image.',
      );
      throw new Exit(exitCodes.refused);
    });
  }
  const { out } = options;
  const isSame = (file: string): boolean =>
    out === undefined || [file, dirname(file)].includes(resolve(out));
  if (files.length < paths.length || files.every(isSame)) return paths;
  const targets = await chooseTargets('image', options, options.count);
  return Promise.all(
    files.map((file) => targets.write(extname(file).slice(1), (path) => copyFile(file, path))),
  );
}

/**
 * Creates images once, saves them, and prints their paths.
 *
 * @param work - What the model does, for the question before the charge.
 */
async function createImages(
  prompt: string,
  run: Run<ImageOptions>,
  input: object,
  work: string,
  send: (options: ImageRequestOptions) => PromiseLike<ImagesResponse>,
): Promise<void> {
  const { options, terminal, json } = run;
  const { callId, count, model } = options;
  const once =
    callId === undefined ? undefined : await beginOnce(callId, { model, prompt, count, ...input });
  if (once?.earlier !== undefined) {
    terminal.note(
      once.earlier === 'running'
        ? `Another run is making the call ${callId} now. Run this again when it has finished.`
        : `An earlier run with the call id ${callId} ended without a result and may have been charged. ` +
            'Check the account, then choose a new call id.',
    );
    throw new Exit(exitCodes.unknown);
  }
  let paths = once?.paths && (await reuseImages(once.paths, run));
  if (paths === undefined) {
    let response;
    let targets;
    let isSent = false;
    try {
      targets = await chooseTargets('image', options, count);
      const price = await run.price({ model, images: count });
      await run.confirmCharge(`${model} ${work}${price}, which will be charged.`);
      terminal.progress('Waiting for the image…');
      isSent = true;
      response = await send({
        signal: run.signal,
        onSubmitted(ref) {
          run.context.isPaid = true;
          terminal.note(
            `Submitted ${ref.id}. To continue after an interruption: images.wait(${JSON.stringify(ref)})`,
          );
        },
      });
    } catch (error) {
      const isFree = GatewayError.isInstance(error) ? error.outcome !== 'unknown' : !isSent;
      // A record that stays says that the call may have been charged.
      if (isFree) await once?.release().catch(() => {});
      throw error;
    }
    run.context.isPaid = true;
    terminal.endProgress();
    noteRemark(response.error, terminal);
    const { length } = response.data;
    if (length < count) {
      terminal.note(
        `The gateway returned ${length} of ${count === 1 ? '1 image' : `${count} images`}.`,
      );
    }
    if (length === 0) process.exitCode = exitCodes.unknown;
    const written: string[] = [];
    for (const image of response.data) {
      const saved = await save(image, imageExtension(image), targets, terminal);
      if (saved === undefined) continue;
      written.push(saved);
      await noteOtherFormat(saved, terminal);
      await noteOddFile(saved, 'image', terminal);
    }
    paths = written;
    // A second run prints the recorded paths. A data URL is not recorded.
    const isKept =
      length > 0 && written.length === length && !written.some((path) => path.startsWith('data:'));
    const recorded = isKept ? once?.finish(written) : undefined;
    await recorded?.catch(() => {
      // The images are saved, so their paths are printed anyway.
      terminal.note(`The call ${callId} could not be recorded: do not run it again.`);
    });
  }
  if (json) return terminal.json({ paths });
  for (const path of paths) {
    await showImage(path, terminal);
    terminal.line(path);
  }
}

/** `model-gateway image`. */
export function drawCommand(): Command {
  const program = imageCommand('image', 'Create images. Charged.', [
    'image -m gpt-image-1 "A lighthouse at dusk"',
    'image -m gpt-image-1 -n 2 --out pictures/ --call-id poster-7 "A paper boat"',
  ]);
  return define<ImageOptions>(program, async (args, run) => {
    const { options, terminal, signal } = run;
    const client = await run.client(options.model);
    const prompt = await readPrompt(args, terminal, signal);
    const { model, count, size, quality } = options;
    const format = chooseImageFormat(options);
    const params: ImageGenerateInput = { model, prompt, n: count, size, quality, ...format };
    const work = count === 1 ? 'creates an image' : `creates ${count} images`;
    await createImages(prompt, run, { size, quality, ...format }, work, (request) =>
      client.images.generate(params, request),
    );
  });
}

/** `model-gateway edit`. */
export function editCommand(): Command {
  const program = imageCommand('edit', 'Edit an image. Charged.', [
    'edit -m gpt-image-1 --image boat.png "Make it snow"',
    'edit -m gpt-image-1 --image room.png --mask wall.png "Paint the wall green"',
  ])
    .requiredOption('--image <file>', 'the image, as a file or URL; repeatable', collect)
    .option('--mask <file>', 'a PNG whose transparent area may change');
  return define<ImageOptions>(program, async (args, run) => {
    const { options, terminal, signal } = run;
    const client = await run.client(options.model);
    const prompt = await readPrompt(args, terminal, signal);
    const { model, count, size, quality, mask, image = [] } = options;
    const format = chooseImageFormat(options);
    const images = await Promise.all(
      image.map((path) => (isAddress(path) ? Promise.resolve(path) : openFile(path))),
    );
    const params: ImageEditInput = {
      model,
      prompt,
      n: count,
      size,
      quality,
      image: images,
      ...format,
      ...(mask === undefined ? {} : { mask: await openFile(mask) }),
    };
    const work = count === 1 ? 'edits an image' : `creates ${count} edited images`;
    await createImages(prompt, run, { size, quality, image, mask, ...format }, work, (request) =>
      client.images.edit(params, request),
    );
  });
}

/**
 * Returns the image format for the extension of the output file. PNG is the default of models.
 *
 * @throws `UsageError` if the extension is not supported
 */
function chooseImageFormat({ out = '' }: OutOptions): { output_format?: 'jpeg' | 'webp' } {
  const extension = extname(out).slice(1).toLowerCase();
  if (extension === 'jpg' || extension === 'jpeg') return { output_format: 'jpeg' };
  if (extension === 'webp') return { output_format: 'webp' };
  if (extension === '' || extension === 'png') return {};
  throw new UsageError(`Images can't be written as .${extension}. Use png, jpg or webp.`);
}

interface SpeakOptions extends OutOptions {
  readonly model: string;
  readonly voice: string;
  readonly format?: string | undefined;
  readonly speed?: number | undefined;
  readonly instructions?: string | undefined;
}

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];

/**
 * Returns the audio format: the option, or the format for the extension of the output file.
 *
 * @throws `UsageError` if the extension is not supported
 */
function chooseFormat({ out = '', format }: SpeakOptions): string {
  const extension = extname(out).slice(1).toLowerCase();
  if (format !== undefined || extension === '') return format ?? 'mp3';
  if (formats.includes(extension)) return extension;
  const known = formats.join(', ');
  throw new UsageError(`Speech can't be written as .${extension}. Use ${known}, or pass --format.`);
}

/** `model-gateway speak`. */
export function speakCommand(): Command {
  const program = command('speak', 'Turn text into speech.', [
    'speak -m tts-1 "The quick brown fox" -o fox.wav',
    'cat story.txt | model-gateway speak -m tts-1 --voice nova',
  ])
    .argument(
      '[text...]',
      'the text; - appends standard input, which is also read if there is no text',
    )
    .requiredOption('-m, --model <name>', 'the model')
    .option('--voice <name>', 'the voice', 'alloy')
    .option('--format <name>', `${formats.join(', ')} (default: by --out, or mp3)`)
    .option('--speed <number>', '0.25 to 4', parseNumber(0.25, 4))
    .option('--instructions <text>', 'how to speak, for models that support it');
  return define<SpeakOptions>(withResend(withOut(program)), async (args, run) => {
    const { options, terminal, signal, context } = run;
    const { model, voice, speed, instructions } = options;
    const format = chooseFormat(options);
    const client = await run.client(model);
    const input = await readPrompt(args, terminal, signal);
    const targets = await chooseTargets('speech', options);
    context.isCharged = true;
    const response = await client.audio.speech.create(
      { model, voice, input, response_format: format, speed, instructions },
      { signal },
    );
    const bytes = await readPaidFile(response, format);
    context.isPaid = true;
    const path = await save(bytes, format, targets, terminal);
    if (path === undefined) return;
    await noteOddFile(path, 'audio', terminal);
    run.show({ path, bytes: bytes.byteLength }, [path]);
  });
}

interface RecordingOptions {
  readonly model: string;
  readonly prompt?: string | undefined;
  readonly language?: string | undefined;
}

function recordingCommand(name: string, description: string, examples: readonly string[]): Command {
  return command(name, description, examples)
    .argument('<file>', 'the recording')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--prompt <text>', 'words to expect, such as names');
}

/** `model-gateway transcribe`. */
export function transcribeCommand(): Command {
  const program = recordingCommand('transcribe', 'Turn speech into text.', [
    'transcribe -m whisper-1 talk.mp3',
    'transcribe -m whisper-1 --language de talk.mp3',
  ]).option('--language <code>', 'the language of the recording, such as en');
  return define<RecordingOptions>(withResend(program), async ([path = ''], run) => {
    const { model, prompt, language } = run.options;
    const client = await run.client(model);
    const file = await openFile(path);
    run.context.isCharged = true;
    const params = { model, file, prompt, language };
    const options = { signal: run.signal };
    const transcription = await client.audio.transcriptions.create(params, options);
    run.show(transcription, [transcription.text]);
  });
}

/** `model-gateway translate`. */
export function translateCommand(): Command {
  const program = recordingCommand('translate', 'Translate speech into English text.', [
    'translate -m whisper-1 talk.mp3',
  ]);
  return define<RecordingOptions>(withResend(program), async ([path = ''], run) => {
    const { model, prompt } = run.options;
    const client = await run.client(model);
    const file = await openFile(path);
    run.context.isCharged = true;
    const options = { signal: run.signal };
    const translation = await client.audio.translations.create({ model, file, prompt }, options);
    run.show(translation, [translation.text]);
  });
}

/** `model-gateway embed`. */
export function embedCommand(): Command {
  const program = command('embed', 'Turn texts into vectors.', [
    'embed -m text-embedding-3-small "a cat on a mat" "a dog on a log"',
    'cat lines.txt | model-gateway embed -m text-embedding-3-small',
  ])
    .argument('[text...]', 'the texts (default: the lines of standard input)')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--dimensions <number>', 'the length of the vectors', parseNumber(1, 100_000, true));
  return define<{ model: string; dimensions?: number }>(withResend(program), async (args, run) => {
    const { options, terminal, signal, context } = run;
    const { model, dimensions } = options;
    const client = await run.client(model);
    const lines = args.length > 0 ? args : (await readPrompt([], terminal, signal)).split(/\r?\n/);
    const input = lines.filter((line) => line.trim() !== '');
    context.isCharged = true;
    const { vectors, usage } = await client.embeddings
      .createMany({ model, input, ...(dimensions === undefined ? {} : { dimensions }) }, { signal })
      .catch((error: unknown) => {
        const isPartial = PartialEmbeddingsError.isInstance(error);
        if (!isPartial || error.vectors.every((vector) => vector === undefined)) throw error;
        // The vectors received so far were charged.
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
