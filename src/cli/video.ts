import { errorMessage } from '../answers/objects.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import {
  VideoWaitError,
  type Gateway,
  type VideoTask,
  type VideoTaskLike,
  type VideoTaskRef,
  type VideoWaitState,
} from '../index.ts';
import { downloadVideo, fileLedger } from '../node/index.ts';
import { command, define, withCharge, withOut, type Run } from './command.ts';
import { chooseTargets, isAddress, openFile, type OutOptions, type Targets } from './files.ts';
import { readPrompt, duration } from './terminal.ts';
import { findVideo, knownVideos, ledgerFolder, rememberVideo } from './records.ts';

/** How a command line names a task. */
const nameOf = (task: VideoTaskLike): string => (typeof task === 'string' ? task : task.id);

/** A word as a shell takes it. */
function quote(word: string): string {
  if (/^[\w./:=@%+,-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The line that goes on with a task. */
function resumeLine(task: VideoTaskLike, { options }: Run<OutOptions>): string {
  const { out, force = false, baseUrl, keyFile } = options;
  const words = ['model-gateway', 'video', 'wait', nameOf(task)];
  if (out !== undefined) words.push('--out', out);
  if (force) words.push('--force');
  if (baseUrl !== undefined) words.push('--base-url', baseUrl);
  if (keyFile !== undefined) words.push('--key-file', keyFile);
  return words.map(quote).join(' ');
}

/** A new task is not looked at sooner, in milliseconds. */
const firstPause = 5_000;

/** Waits for a task, with a line that tells how far it is and when it is looked at again. */
async function waitFor(
  client: Gateway,
  task: VideoTaskLike,
  isNew: boolean,
  { terminal, signal, options: { timeout = 1_800_000 } }: Run<OutOptions>,
): Promise<VideoTask> {
  const started = Date.now();
  const before = isNew ? Math.min(firstPause, timeout) : 0;
  // Steps count their time from the first of them.
  const limits = { signal, timeout: Math.max(1, timeout - before) };
  let next = started + before;
  let told = 'submitted';
  const show = (): void => {
    const now = Date.now();
    const again = Math.max(0, Math.round((next - now) / 1_000));
    terminal.progress(`${told}, ${duration(now - started)}, next look in ${again} s`);
  };
  const timer = setInterval(show, 1_000);
  try {
    for (let state: VideoWaitState | undefined; ;) {
      show();
      // An abort is told by the step.
      await setTimeout(Math.max(0, next - Date.now()), undefined, { signal }).catch(() => {});
      const step = await client.videos.step(task, state, limits);
      state = step.state;
      const { status = 'submitted', progress } = state;
      told = `${status}${progress === undefined ? '' : ` ${Math.round(progress)} %`}`;
      if ('video' in step.next) return step.next.video;
      if ('error' in step.next) throw step.next.error;
      next = Date.now() + step.next.delayMs;
    }
  } finally {
    clearInterval(timer);
  }
}

/** Writes the file of a video that is completed, and tells where it is. */
async function writeVideo(
  client: Gateway,
  task: VideoTaskLike,
  targets: Targets,
  run: Run<OutOptions>,
): Promise<void> {
  const { terminal, signal } = run;
  const { path, bytes } = await downloadVideo(client, task, {
    to: await targets.path(0, 'mp4'),
    resume: true,
    signal,
    onProgress({ received, total }) {
      const part = total === undefined ? '' : ` of ${Math.round(total / 1_000)}`;
      terminal.progress(`Downloading ${Math.round(received / 1_000)}${part} kB`);
    },
  });
  terminal.endProgress();
  run.show({ id: nameOf(task), path, bytes }, [path]);
}

/** Waits for a task, and writes its file. */
async function finish(
  client: Gateway,
  task: VideoTaskLike,
  targets: Targets,
  run: Run<OutOptions>,
  isNew = false,
): Promise<void> {
  const { terminal } = run;
  const { id, ref } = await waitFor(client, task, isNew, run).catch((error: unknown) => {
    if (VideoWaitError.isInstance(error)) {
      const isSeen = error.lastStatus !== undefined;
      const goesOn = isSeen || isNew ? 'The task goes on. To' : 'To';
      terminal.note(`${goesOn} wait for it again: ${resumeLine(task, run)}`);
    }
    throw error;
  });
  terminal.progress('Downloading…');
  await writeVideo(client, ref, targets, run).catch((error: unknown) => {
    terminal.note(`The video is there. To write it again: model-gateway video download ${id}`);
    throw error;
  });
}

interface CreateOptions extends OutOptions {
  readonly model: string;
  readonly seconds?: string | undefined;
  readonly size?: string | undefined;
  readonly image?: string | undefined;
  readonly callId?: string | undefined;
  readonly wait: boolean;
}

function createCommand(): Command {
  const program = command('create', 'Make a video, wait for it and write its file. Charged.', [
    'video create -m sora-2 --seconds 4 "A paper boat on a quiet lake" -o boat.mp4',
    'video create -m sora-2 --no-wait --call-id boat-1 "A paper boat"',
  ])
    .argument('[prompt...]', 'what happens; what is piped in comes below it')
    .requiredOption('-m, --model <name>', 'the model')
    .option('--seconds <number>', 'how long it is')
    .option('--size <size>', 'such as 1280x720')
    .option('--image <file>', 'the first picture, as a file or an address')
    .option('--no-wait', 'write the handle and end');
  return define<CreateOptions>(withCharge(withOut(program)), async (words, run) => {
    const { options, terminal, signal, context } = run;
    const { model, seconds, size, image } = options;
    const client = await run.client(model);
    const prompt = await readPrompt(words, terminal, signal);
    const targets = await chooseTargets('video', options);
    const reference = image === undefined || isAddress(image) ? image : await openFile(image);
    const ledger = fileLedger(await ledgerFolder());
    await run.agree(`${model} makes a video, which will be charged.`);
    const callId = options.callId ?? `cli-${randomUUID()}`;
    terminal.note(`Call id ${callId}: with --call-id ${callId} a second run does not pay again.`);
    terminal.progress('Submitting…');
    const task = await client.videos.create(
      {
        model,
        prompt,
        ...(seconds === undefined ? {} : { seconds }),
        ...(size === undefined ? {} : { size }),
        ...(reference === undefined ? {} : { input_reference: reference }),
      },
      { callId, ledger, signal },
    );
    context.isPaid = true;
    // Before anything is printed: the terminal or pipe may be gone, and the list is how to find the task.
    const isListed = await rememberVideo(task.ref).then(
      () => true,
      () => false,
    );
    terminal.note(`Submitted ${task.id}. If this ends: ${resumeLine(task.ref, run)}`);
    if (!isListed) {
      terminal.note(`${task.id} could not be recorded: "video list" will not show it.`);
    }
    if (!options.wait) return run.show(task.ref, [task.id]);
    await finish(client, task.ref, targets, run, true);
  });
}

const taskArgument = 'the id of the task, or its handle as JSON';

function waitCommand(): Command {
  const program = command('wait', 'Wait for a video and write its file. Free.', [
    'video wait task_abc -o boat.mp4',
    'video wait task_abc --timeout 5m',
  ]).argument('<task>', taskArgument);
  return define<OutOptions>(withOut(program), async ([named = ''], run) => {
    const client = await run.client();
    const targets = await chooseTargets('video', run.options);
    await finish(client, await findVideo(named), targets, run);
  });
}

function statusCommand(): Command {
  const program = command('status', 'Ask once how far a video is. Free.', [
    'video status task_abc',
  ]).argument('<task>', taskArgument);
  return define(program, async ([named = ''], run) => {
    const gateway = await run.client();
    const task = await gateway.videos.retrieve(await findVideo(named), { signal: run.signal });
    const percent = task.progress == null ? '' : ` ${task.progress} %`;
    run.show(task, [`${task.id} ${task.status}${percent}`]);
  });
}

function downloadCommand(): Command {
  const program = command('download', 'Write the file of a video that is completed. Free.', [
    'video download task_abc -o boat.mp4',
  ]).argument('<task>', taskArgument);
  return define<OutOptions>(withOut(program), async ([named = ''], run) => {
    const client = await run.client();
    const targets = await chooseTargets('video', run.options);
    await writeVideo(client, await findVideo(named), targets, run);
  });
}

/** One line of the list. */
interface Listed {
  readonly id: string;
  readonly model: string | undefined;
  readonly submitted: string;
  readonly status: string;
}

async function look(client: Gateway, ref: VideoTaskRef, signal: AbortSignal): Promise<Listed> {
  const { id, model, createdAt } = ref;
  const submitted = new Date(createdAt).toISOString();
  const status = await client.videos
    .retrieve(ref, { signal, maxRetries: 0, totalTimeout: 10_000 })
    .then(
      (task) => task.status,
      (error: unknown) => errorMessage(error),
    );
  return { id, model, submitted, status };
}

function listCommand(): Command {
  const program = command(
    'list',
    'The videos that were submitted from here, the newest first. Free.',
    ['video list', 'video list --json | jq -r .[0].id'],
  );
  return define(program, async (_, run) => {
    const client = await run.client();
    const refs = (await knownVideos()).slice(0, 50);
    const listed: Listed[] = [];
    for (let start = 0; start < refs.length; start += 4) {
      const some = refs.slice(start, start + 4);
      listed.push(...(await Promise.all(some.map((ref) => look(client, ref, run.signal)))));
    }
    const lines = listed.map(
      ({ id, model = '', submitted, status }) =>
        `${id}  ${submitted.slice(0, 16).replace('T', ' ')}  ${model}  ${status}`,
    );
    run.show(listed, lines, 'No video was submitted from here.');
  });
}

/** `model-gateway video …`. */
export function videoCommand(): Command {
  return new Command('video')
    .description('Make videos, and wait for them.')
    .addCommand(createCommand())
    .addCommand(waitCommand())
    .addCommand(statusCommand())
    .addCommand(downloadCommand())
    .addCommand(listCommand());
}
