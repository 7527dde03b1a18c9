// What a gateway says in place of a result reaches the user of a program: each form of it, at each command and tool.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { videoProcessor } from '../../src/adapters/bullmq/index.ts';
import { errorMessage } from '../../src/answers/objects.ts';
import { Gateway, memoryLedger } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { encodeMp3 } from '../../src/testing/media/mp3.ts';
import { toTones } from '../../src/testing/media/tones.ts';
import { listen } from '../../src/testing/server/server.ts';
import { TestQueue } from '../helpers/bullmq-queue.ts';
import { passTimeFaster } from '../helpers/fast-time.ts';
import { someOf } from '../helpers/some-cases.ts';
import { Machine } from '../programs/cli/run.ts';
import { type JobResult, McpMachine, type McpSession } from '../programs/mcp/run.ts';
import { type Asked, isFree, isResult } from './doors.ts';
import { errors, type Form, quotes, whole, words } from './forms.ts';

const sound = encodeMp3(toTones('A boat at sea'), 'A boat');

/** How a program ended. */
interface End {
  /** What it told its user. */
  readonly said: string;
  readonly isDone: boolean;
  /** `true` if nothing was charged; `undefined` if the program does not tell. */
  readonly isFree?: boolean;
}

interface ProgramDoor extends Asked {
  readonly name: string;
  readonly run: (at: Place) => Promise<End>;
}

/** Where a program runs. */
interface Place {
  readonly url: string;
  /** Opens the one session of a test, after which no command can run. */
  readonly connect: () => Promise<McpSession>;
}

function runCommand({ url }: Place, parts: readonly string[]) {
  const machine = new Machine({ url, key: 'sk-test' });
  writeFileSync(join(machine.folder, 'a.mp3'), sound);
  return machine.run(parts);
}

/** A command of the command line. */
const command = (
  name: string,
  kind: Asked['kind'],
  charge: Asked['charge'],
  options: readonly string[],
  takes?: Asked['takes'],
): ProgramDoor => ({
  name: `the command ${name}`,
  kind,
  charge,
  takes,
  async run(place) {
    const { code, stdout, stderr } = await runCommand(place, [...name.split(' '), ...options]);
    return { said: code === 0 ? stdout : stderr, isDone: code === 0, isFree: code === 1 };
  },
});

/** A tool of MCP. */
const tool = (
  name: string,
  kind: Asked['kind'],
  charge: Asked['charge'],
  args: Record<string, unknown>,
  takes?: Asked['takes'],
): ProgramDoor => ({
  name: `the tool ${name}`,
  kind,
  charge,
  takes,
  async run({ connect }) {
    const session = await connect();
    const result: JobResult = await session.call(name, args);
    const { state, isError, text } = result;
    return { said: text, isDone: !isError && (state ?? 'done') === 'done' };
  },
});

const model = ['-m', 'm-1'];
const prompt = 'A boat';

const doors: readonly ProgramDoor[] = [
  command('chat', 'stream', 'charged', [...model, prompt]),
  command('image', 'whole', 'charged', [...model, prompt, '-y']),
  command('edit', 'whole', 'charged', [...model, prompt, '-y', '--image', 'https://a.test/a.png']),
  command('speak', 'whole', 'charged', [...model, prompt], 'bytes'),
  command('transcribe', 'whole', 'charged', [...model, 'a.mp3'], 'text'),
  command('translate', 'whole', 'charged', [...model, 'a.mp3'], 'text'),
  command('embed', 'whole', 'charged', [...model, prompt]),
  command('video create', 'submit', 'charged', [...model, prompt, '-y']),
  command('video status', 'status', 'free', ['task']),
  command('models', 'whole', 'free', []),
  tool('create_image', 'whole', 'charged', { model: 'm-1', prompt }),
  tool('create_speech', 'whole', 'charged', { model: 'm-1', text: prompt }, 'bytes'),
  tool('transcribe_audio', 'whole', 'charged', { model: 'm-1', path: 'a.mp3' }, 'text'),
  tool('create_video', 'submit', 'charged', { model: 'm-1', prompt }),
  tool('list_models', 'whole', 'free', {}),
];

/** Returns what is wrong with the end of a program that received a form. */
function problemOf(door: ProgramDoor, form: Form, end: End, sent: number): string | undefined {
  const { said, isDone } = end;
  // Programs look into files, so text is no speech to them.
  if (isResult(door, form))
    return isDone || door.takes === 'bytes' ? undefined : `refused: ${said}`;
  if (isDone) return `done: ${said}`;
  if (form.words !== '' && !said.includes(form.words)) return `said: ${said}`;
  if (door.kind !== 'poll' && door.charge === 'charged' && sent !== 1)
    return `sent ${sent} requests`;
  if (end.isFree === undefined || door.charge === 'free' || door.kind === 'poll') return undefined;
  return end.isFree === isFree(door, form, false) ? undefined : `is free: ${end.isFree}: ${said}`;
}

/** Starts a gateway, and returns where programs run. */
async function open(answer: (method: string) => Response): Promise<Place> {
  const server = await listen(
    async (request) => {
      await request.arrayBuffer();
      return answer(request.method);
    },
    0,
    '127.0.0.1',
  );
  onTestFinished(() => server.close());
  const { url } = server;
  let session: Promise<McpSession> | undefined;
  const connect = (): Promise<McpSession> => {
    const machine = McpMachine.at(url, createEmulator());
    writeFileSync(join(machine.workspace, 'a.mp3'), sound);
    return machine.connect();
  };
  return { url, connect: () => (session ??= connect()) };
}

describe('a program', () => {
  passTimeFaster();

  test.each(someOf([...errors, ...quotes]))('$name', async (form) => {
    const answer = whole(form, 200);
    let sent = 0;
    const place = await open((method) => {
      if (method === 'POST') sent += 1;
      return answer();
    });

    const wrong: string[] = [];
    for (const door of doors) {
      sent = 0;
      const end = await door.run(place);
      const problem = problemOf(door, form, end, sent);
      if (problem !== undefined) wrong.push(`${door.name}: ${problem}`);
    }

    expect(wrong).toEqual([]);
  });
});

/** Programs that wait for a video, and what they say of the polls. */
const waits: Readonly<Record<string, (place: Place) => Promise<string>>> = {
  'the command video create': async (place) =>
    (await runCommand(place, ['video', 'create', ...model, prompt, '-y'])).stderr,
  'the command video wait': async (place) =>
    (await runCommand(place, ['video', 'wait', 'task'])).stderr,
  async BullMQ({ url }) {
    const client = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off' });
    const processor = videoProcessor(client, { ledger: memoryLedger(), interval: 1_000 });
    const queue = new TestQueue();
    queue.add('boat', { params: { model: 'm-1', prompt } });
    const { error } = await queue.finish('boat', processor);
    return errorMessage(error);
  },
  async MCP({ connect }) {
    const session = await connect();
    let result = await session.call('create_video', { model: 'm-1', prompt });
    // A task stays submitted after a wait that has failed.
    while (/^(running|submitted)$/.test(result.state ?? '') && !/check failed/.test(result.text)) {
      result = await session.call('wait_video', { call_id: result.call_id });
    }
    return result.text;
  },
};

describe('a wait', () => {
  passTimeFaster(100);

  test.each([
    ['without id and status', { error: { message: words } }, /could not be read/],
    [
      "in Tencent's form",
      { Response: { Error: { Code: 'c1', Message: words } } },
      /could not be read/,
    ],
    ['beside an id', { id: 'task', error: { message: words } }, /failed/],
    ['of a failed task', { id: 'task', status: 'failed', fail_reason: words }, /failed/],
  ])('says what the polls said: an error %s', async (_, body, ending) => {
    const task = { id: 'task', status: 'queued' };
    const place = await open((method) => Response.json(method === 'POST' ? task : body));

    for (const [name, run] of Object.entries(waits)) {
      const said = await run(place);

      expect(said, name).toContain(words);
      expect(said, name).toMatch(ending);
    }
  });
});
