import { errorMessage } from '../../answers/objects.ts';
import { randomUUID } from 'node:crypto';
import { copyFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  APIError,
  ContentUnavailableError,
  GatewayError,
  type OpenCall,
  VideoFailedError,
  VideoWaitError,
  type Gateway,
  type VideoTask,
  type VideoTaskLike,
  type VideoTaskRef,
  type VideoWaitState,
} from '../../index.ts';
import { isMissingTask } from '../../tasks/reading.ts';
import { downloadVideo, fileLedger, type FileLedger } from '../../adapters/node/index.ts';
import { bareCommand, command, define, withCharge, withOut, type Run } from './command.ts';
import {
  chooseTargets,
  isAddress,
  noteOddFile,
  noteRemark,
  openFile,
  type OutOptions,
  type Targets,
} from './files.ts';
import { readPrompt, formatDuration } from './terminal.ts';
import {
  findFile,
  findVideo,
  knownVideos,
  ledgerFolder,
  rememberFile,
  rememberVideo,
} from './records.ts';
import { Exit, exitCodes, quote, UsageError } from './usage.ts';

const taskId = (task: VideoTaskLike): string => (typeof task === 'string' ? task : task.id);

/** Returns the command that continues waiting for a task. */
function resumeCommand(task: VideoTaskLike, { options }: Run<OutOptions>): string {
  const { out, force = false, baseUrl, gateway, keyFile } = options;
  const args = ['model-gateway', 'video', 'wait', taskId(task)];
  if (out !== undefined) args.push('--out', out);
  if (force) args.push('--force');
  if (baseUrl !== undefined) args.push('--base-url', baseUrl);
  if (gateway !== undefined) args.push('--gateway', gateway);
  if (keyFile !== undefined) args.push('--key-file', keyFile);
  return args.map(quote).join(' ');
}

/** Time until the first poll of a new task, in milliseconds. */
const firstPause = 5_000;

/** Reports a task that the gateway doesn't know. */
function noSuchTask(task: VideoTaskLike, { terminal }: Pick<Run<unknown>, 'terminal'>): Exit {
  terminal.note(
    `model-gateway: The gateway has no task ${taskId(task)}. Check the id and the base URL, or run: model-gateway video list`,
  );
  return new Exit(exitCodes.notFound);
}

/** Reads a task. @throws `Exit` if the gateway doesn't know it */
async function retrieve(
  client: Gateway,
  task: VideoTaskLike,
  run: Pick<Run<unknown>, 'terminal' | 'signal'>,
): Promise<VideoTask> {
  return client.videos.retrieve(task, { signal: run.signal }).catch((error: unknown) => {
    const isMissing = APIError.isInstance(error) && isMissingTask(error);
    throw isMissing ? noSuchTask(task, run) : error;
  });
}

/** Waits for a task, and shows its progress and the time until the next poll. */
async function waitFor(
  client: Gateway,
  task: VideoTaskLike,
  isNew: boolean,
  run: Run<OutOptions>,
): Promise<VideoTask> {
  const { terminal, signal } = run;
  const { timeout = 1_800_000 } = run.options;
  const started = Date.now();
  const before = isNew ? Math.min(firstPause, timeout) : 0;
  // step() measures its timeout from the first step.
  const limits = { signal, timeout: Math.max(1, timeout - before) };
  let next = started + before;
  let statusText = 'submitted';
  const show = (): void => {
    const now = Date.now();
    const again = Math.max(0, Math.round((next - now) / 1_000));
    terminal.progress(`${statusText}, ${formatDuration(now - started)}, next check in ${again} s`);
  };
  const timer = setInterval(show, 1_000);
  try {
    for (let state: VideoWaitState | undefined; ;) {
      show();
      // step() throws after an abort.
      await setTimeout(Math.max(0, next - Date.now()), undefined, { signal }).catch(() => {});
      const step = await client.videos.step(task, state, limits);
      state = step.state;
      const { status = 'submitted', progress } = state;
      statusText = `${status}${progress === undefined ? '' : ` ${Math.round(progress)} %`}`;
      if ('video' in step.next) return step.next.video;
      if ('error' in step.next) throw step.next.error;
      if (!isNew && state.missing >= 2 && state.status === undefined) throw noSuchTask(task, run);
      next = Date.now() + step.next.delayMs;
    }
  } finally {
    clearInterval(timer);
  }
}

/** Saves the file of a completed video, and prints its path. */
async function saveVideo(
  client: Gateway,
  task: VideoTaskLike,
  targets: Targets,
  run: Run<OutOptions>,
): Promise<void> {
  const { terminal, signal } = run;
  const download = (to: string) =>
    downloadVideo(client, task, {
      to,
      resume: true,
      signal,
      onProgress({ received, total }) {
        const outOf = total === undefined ? '' : ` of ${Math.round(total / 1_000)}`;
        terminal.progress(`Downloading ${Math.round(received / 1_000)}${outOf} kB`);
      },
    });
  const path = await targets.write('mp4', download).catch((error: unknown) => {
    if (!ContentUnavailableError.isInstance(error)) throw error;
    const { url } = error;
    const id = taskId(task);
    const place =
      url === undefined ? 'The id of its task, for the operator of the gateway:' : 'Its URL:';
    terminal.note(`The video is paid for, but could not be downloaded. ${place}`);
    run.show({ id, url }, [url ?? id]);
    throw error;
  });
  terminal.endProgress();
  await rememberFile(taskId(task), path).catch(() => {
    // The file is saved. Without this record, a second run with the call id downloads it again.
  });
  await noteOddFile(path, 'video', terminal);
  const { size: bytes } = await stat(path);
  run.show({ id: taskId(task), path, bytes }, [path]);
}

/**
 * Prints the path of a video that an earlier run has saved, or copies the file to `--out`.
 *
 * @returns `true` if there is such a file
 */
async function showSaved({ id }: VideoTaskRef, run: Run<OutOptions>): Promise<boolean> {
  const { out } = run.options;
  const saved = await findFile(id);
  if (saved === undefined) return false;
  const isSame = out === undefined || [saved, dirname(saved)].includes(resolve(out));
  let path = saved;
  if (!isSame) {
    const targets = await chooseTargets('video', run.options);
    path = await targets.write('mp4', (copy) => copyFile(saved, copy));
  }
  const { size } = await stat(path);
  run.show({ id, path, bytes: size }, [path]);
  return true;
}

/** Records a task for `video list`, and prints how to continue with it. */
async function announce(ref: VideoTaskRef, run: Run<OutOptions>): Promise<void> {
  const { terminal } = run;
  // Recorded before printing: if the terminal or pipe is closed, "video list" still finds it.
  const isListed = await rememberVideo(ref).then(
    () => true,
    () => false,
  );
  terminal.note(
    `Submitted ${ref.id}. To continue after an interruption: ${resumeCommand(ref, run)}`,
  );
  if (!isListed) {
    terminal.note(`${ref.id} could not be recorded: "video list" will not show it.`);
  }
}

/**
 * Waits for the response to a submission that Ctrl-C has ended, because it is charged.
 *
 * @throws `Exit` after printing what became of it; `error` if nothing was sent
 */
async function awaitLate(
  error: unknown,
  client: Gateway,
  callId: string,
  run: Run<OutOptions>,
): Promise<never> {
  const { terminal, signal } = run;
  const isSent = GatewayError.isInstance(error) && error.outcome === 'unknown';
  if (!signal.aborted || !isSent) throw error;
  terminal.note(
    'The video was sent: waiting up to 35 s for the response. A second Ctrl-C exits at once, and may lose it.',
  );
  await client.settled();
  const entry = await fileLedger(await ledgerFolder()).entry(callId);
  const [ref] = entry?.refs ?? [];
  if (ref?.kind === 'video') await announce(ref, run);
  else if (entry === undefined) terminal.note('The gateway refused it, so nothing is charged.');
  else {
    const check = `check the account before you choose a new call id, with: model-gateway account settle ${quote(callId)}`;
    terminal.note(`The outcome is unknown, so the video may be charged: ${check}`);
  }
  throw new Exit(exitCodes.interrupted);
}

/** Records the end of a task in the ledger, if this computer submitted it. */
async function recordEnd(task: VideoTaskLike, end: 'completed' | 'failed'): Promise<void> {
  const callId = typeof task === 'object' && 'callId' in task ? task.callId : undefined;
  if (typeof callId !== 'string') return;
  try {
    await fileLedger(await ledgerFolder()).finish(callId, end);
  } catch {
    // "video list --open" shows it until the next wait.
  }
}

/** Waits for a task, and saves its file. */
async function finish(
  client: Gateway,
  task: VideoTaskLike,
  targets: Targets,
  run: Run<OutOptions>,
  isNew = false,
): Promise<void> {
  const { terminal } = run;
  const video = await waitFor(client, task, isNew, run).catch(async (error: unknown) => {
    if (VideoFailedError.isInstance(error)) await recordEnd(task, 'failed');
    if (VideoWaitError.isInstance(error)) {
      const isSeen = error.lastStatus !== undefined;
      const intro = isSeen || isNew ? 'The task continues. To' : 'To';
      terminal.note(`${intro} wait for it again: ${resumeCommand(task, run)}`);
    }
    throw error;
  });
  await recordEnd(task, 'completed');
  noteRemark(video.error, terminal);
  terminal.progress('Downloading…');
  await saveVideo(client, video, targets, run).catch((error: unknown) => {
    if (!ContentUnavailableError.isInstance(error)) {
      const again = `model-gateway video download ${video.id}`;
      terminal.note(`The video is ready. To download it again: ${again}`);
    }
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
  const program = command('create', 'Create a video, wait for it and save its file. Charged.', [
    'video create -m sora-2 --seconds 4 "A paper boat on a quiet lake" -o boat.mp4',
    'video create -m sora-2 --no-wait --call-id boat-1 "A paper boat"',
  ])
    .argument(
      '[prompt...]',
      'the prompt; - appends standard input, which is also read without a prompt',
    )
    .requiredOption('-m, --model <name>', 'the model')
    .option('--seconds <number>', 'the length of the video')
    .option('--size <size>', 'such as 1280x720')
    .option('--image <file>', 'the first frame, as a file or URL')
    .option('--no-wait', 'print the task and exit');
  return define<CreateOptions>(withCharge(withOut(program)), async (args, run) => {
    const { options, terminal, signal, context } = run;
    const { model, seconds, size, image } = options;
    const client = await run.client(model);
    const prompt = await readPrompt(args, terminal, signal);
    const reference = image === undefined || isAddress(image) ? image : await openFile(image);
    const ledger = fileLedger(await ledgerFolder());
    const callId = options.callId ?? `cli-${randomUUID()}`;
    const params = {
      model,
      prompt,
      ...(seconds === undefined ? {} : { seconds }),
      ...(size === undefined ? {} : { size }),
      ...(reference === undefined ? {} : { input_reference: reference }),
    };
    const submit = () => client.videos.create(params, { callId, ledger, signal });
    const entry = await ledger.entry(callId);
    if (entry !== undefined && (entry.refs.length > 0 || entry.status === 'unknown')) {
      // With an existing entry this submits nothing: it checks that the request is the same, and reads the task
      // from the ledger, or throws if the outcome is unknown.
      context.isCharged = true;
      const { id, ref } = await submit();
      context.isPaid = true;
      terminal.note(`${callId} was submitted before, as ${id}: it is not charged again.`);
      if (!options.wait) return run.show(ref, [id]);
      if (await showSaved(ref, run)) return;
      return finish(client, ref, await chooseTargets('video', options), run);
    }
    const targets = await chooseTargets('video', options);
    // New-api lists the price of a second as the price of a call.
    const length =
      seconds === undefined ? undefined : { images: Number(seconds), seconds: Number(seconds) };
    const price = length === undefined ? '' : await run.price({ model, ...length });
    await run.confirmCharge(`${model} creates a video${price}, which will be charged.`);
    const again = `a second run with --call-id ${quote(callId)} is not charged again`;
    terminal.note(`Call id ${callId}: ${again}.`);
    terminal.progress('Submitting…');
    const task = await submit().catch((error) => awaitLate(error, client, callId, run));
    context.isPaid = true;
    await announce(task.ref, run);
    if (!options.wait) return run.show(task.ref, [task.id]);
    await finish(client, task.ref, targets, run, true);
  });
}

const taskArgument = 'the id of the task or its --call-id, or its handle as JSON';

function waitCommand(): Command {
  const program = command('wait', 'Wait for a video and save its file. Free.', [
    'video wait task_abc -o boat.mp4',
    'video wait task_abc --timeout 5m',
  ]).argument('<task>', taskArgument);
  return define<OutOptions>(withOut(program), async ([idOrHandle = ''], run) => {
    const client = await run.client();
    const targets = await chooseTargets('video', run.options);
    await finish(client, await findVideo(idOrHandle), targets, run);
  });
}

function statusCommand(): Command {
  const program = command('status', 'Show the status of a video once. Free.', [
    'video status task_abc',
  ]).argument('<task>', taskArgument);
  return define(program, async ([idOrHandle = ''], run) => {
    const client = await run.client();
    const task = await retrieve(client, await findVideo(idOrHandle), run);
    const percent = task.progress == null ? '' : ` ${task.progress} %`;
    run.show(task, [`${task.id} ${task.status}${percent}`]);
  });
}

function downloadCommand(): Command {
  const program = command('download', 'Save the file of a completed video. Free.', [
    'video download task_abc -o boat.mp4',
  ]).argument('<task>', taskArgument);
  return define<OutOptions>(withOut(program), async ([idOrHandle = ''], run) => {
    const client = await run.client();
    const targets = await chooseTargets('video', run.options);
    const task = await findVideo(idOrHandle);
    await saveVideo(client, task, targets, run).catch(async (error: unknown) => {
      // Gateways also answer 400 and 404 for a task that is not completed, so the task is read.
      const isRejected =
        APIError.isInstance(error) &&
        !ContentUnavailableError.isInstance(error) &&
        [400, 404].includes(error.status ?? 0);
      const problem = isRejected
        ? await retrieve(client, task, run).then(undefined, (failure: unknown) => failure)
        : undefined;
      throw problem instanceof Exit ? problem : error;
    });
  });
}

/** An entry of `video list`. */
interface ListEntry {
  readonly id: string;
  readonly model: string | undefined;
  readonly submitted: string;
  readonly status: string;
}

async function toListEntry(
  client: Gateway,
  ref: VideoTaskRef,
  signal: AbortSignal,
): Promise<ListEntry> {
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

const formatMinute = (time: string): string => time.slice(0, 16).replace('T', ' ');

/** Lists the calls of the ledger that are not over. */
async function listOpen(run: Run<unknown>): Promise<void> {
  const calls = await fileLedger(await ledgerFolder()).open();
  const entries = calls.map(({ callId, status, since, refs }) => ({
    call_id: callId,
    status,
    since: since === undefined ? undefined : new Date(since).toISOString(),
    tasks: refs.map(({ id }) => id),
  }));
  const lines = entries.map(({ call_id: callId, status, since = '', tasks }) =>
    `${callId}  ${formatMinute(since)}  ${status}  ${tasks.join(' ')}`.trimEnd(),
  );
  run.show(entries, lines, 'Every call is over.');
  if (run.json || lines.length === 0) return;
  run.terminal.note(
    'To see whether a call was charged: model-gateway account settle <call-id>. To close one: model-gateway video close <call-id>.',
  );
}

/** Returns what is known of a call that is not over, and what changes once it is closed. */
function describeOpen(call: OpenCall): string {
  const { callId, refs } = call;
  const id = quote(callId);
  if (!('claimId' in call)) {
    const tasks = refs.map((ref) => ref.id).join(', ');
    const wait = `To wait for it and save its file: model-gateway video wait ${refs[0]?.id}`;
    return `${callId} was accepted as ${tasks}. ${wait}\nOnce it is closed, it is no longer listed. A run with --call-id ${id} still finds the task.`;
  }
  const state =
    call.status === 'unknown'
      ? 'Its response was lost, or was a server error'
      : call.isAlive === false
        ? 'The run that submitted it has ended without a response'
        : 'The run that submits it may still be waiting for the response';
  return `${callId} may have been charged. ${state}. To check: model-gateway account settle ${id}\nOnce it is closed, its id is free: a run with --call-id ${id} submits a new video, which is charged.`;
}

/** Returns the call that `video close` may close. @throws `Exit` if there is none, or a run is submitting it */
async function findOpen(
  ledger: FileLedger,
  callId: string,
  { terminal }: Run<unknown>,
): Promise<OpenCall> {
  const call = (await ledger.open()).find((other) => other.callId === callId);
  if (call === undefined) {
    const isOver = (await ledger.entry(callId)) !== undefined;
    const listed = 'To list the calls that are not over: model-gateway video list --open';
    terminal.note(
      isOver ? `${callId} is already over.` : `No run on this computer used ${callId}. ${listed}`,
    );
    throw new Exit(isOver ? exitCodes.done : exitCodes.notFound);
  }
  if (call.status === 'submitting' && call.isAlive === true) {
    terminal.note(`Another run is submitting ${callId} now. Run this again when it has finished.`);
    throw new Exit(exitCodes.refused);
  }
  return call;
}

function closeCommand(): Command {
  const program = bareCommand(
    'close',
    'Close a call that "video list --open" lists. Free: nothing is sent, and no task is stopped.',
    ['video close boat-1'],
  )
    .argument('<call-id>', 'the id of the call, as it is listed')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--json', 'write JSON, which is the default in a pipe');
  return define<{ yes?: boolean }>(program, async ([callId = ''], run) => {
    const { terminal, signal, options } = run;
    const folder = await ledgerFolder();
    const ledger = fileLedger(folder);
    const call = await findOpen(ledger, callId, run);
    terminal.note(describeOpen(call));
    if (options.yes !== true) {
      if (!terminal.canAsk) throw new UsageError('Without a terminal, pass -y to close it.');
      if (!(await terminal.confirm('Close it?', signal))) {
        terminal.note('Nothing was changed.');
        throw new Exit(exitCodes.refused);
      }
    }
    // With the id of the claim, nothing changes if another run has claimed the call meanwhile.
    if ('claimId' in call) await ledger.finish(callId, 'not_submitted', { claimId: call.claimId });
    else await ledger.finish(callId, 'failed');
    if ((await ledger.open()).some((other) => other.callId === callId)) {
      terminal.note(
        `model-gateway: ${callId} was not closed: another run uses it, or its file in ${folder} can't be read.`,
      );
      throw new Exit(exitCodes.refused);
    }
    run.show({ call_id: callId, status: 'closed' }, [`Closed ${callId}.`]);
  });
}

function listCommand(): Command {
  const program = command(
    'list',
    'List the videos submitted from this computer, newest first. Free.',
    ['video list', 'video list --open', "video list --json | jq -r '.[0].id'"],
  ).option(
    '--open',
    'list the calls that are not over instead, oldest first, also without a task; reads only this computer',
  );
  return define<{ open?: boolean }>(program, async (_, run) => {
    if (run.options.open === true) return listOpen(run);
    const client = await run.client();
    const refs = (await knownVideos()).slice(0, 50);
    const entries: ListEntry[] = [];
    for (let start = 0; start < refs.length; start += 4) {
      const batch = refs.slice(start, start + 4);
      entries.push(
        ...(await Promise.all(batch.map((ref) => toListEntry(client, ref, run.signal)))),
      );
    }
    const lines = entries.map(
      ({ id, model = '', submitted, status }) =>
        `${id}  ${formatMinute(submitted)}  ${model}  ${status}`,
    );
    run.show(entries, lines, 'No videos were submitted from this computer.');
  });
}

/** `model-gateway video …`. */
export function videoCommand(): Command {
  const examples = [
    'video create -m sora-2 --seconds 4 "A paper boat on a quiet lake" -o boat.mp4',
    'video wait task_abc -o boat.mp4',
    'video list',
  ];
  return bareCommand('video', 'Create videos and wait for them.', examples)
    .addCommand(createCommand())
    .addCommand(waitCommand())
    .addCommand(statusCommand())
    .addCommand(downloadCommand())
    .addCommand(listCommand())
    .addCommand(closeCommand());
}
