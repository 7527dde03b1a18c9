import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn as spawnInTerminal } from '@lydell/node-pty';
import { createEmulator, type Emulator, type EmulatorServer } from '../src/testing/index.ts';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { root, runProgram } from './helpers/run-program.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

/** A piece of what each example prints when it has done its job. */
const expected: Readonly<Record<string, RegExp>> = {
  'ai-sdk':
    /weather says[\s\S]*days in Lisbon\nSaved .*png, \d{4,} bytes\nSubmitted task_\w+[\s\S]*Saved boat\.mp4, \d{4,} bytes/,
  cancel: /Left the stream after 3 chunks\.\nAborted; its outcome is (not_sent|unknown)\./,
  chat: /Why is the sky blue\?[\s\S]*total_tokens: \d+/,
  'core-chat': /Why is the sky blue\?/,
  'chat-helper': /Name three rivers\.[\s\S]*assistant has finished\.[\s\S]*total_tokens/,
  'chat-stream': /Tell me about the sea\.[\s\S]*The stream is complete\./,
  'chat-tools': /The model calls get_weather\(.*city.*\)\n.*celsius/,
  'chat-vision': /PNG image of 128x128/,
  embeddings: /^1\.000 The cat[\s\S]*Stocks fell today\./,
  'embeddings-many': /250 vectors for \d+ tokens/,
  errors: /outcome: rejected\nstatus: 503 code: model_not_found request: \w+/,
  fallback:
    /m-large → m-flash: [\s\S]*sky blue\?.* m-flash\.\ncharged: m-flash\nThe next model is not asked: .*\ncharged: m-flash, m-image\n/,
  generate: /Why do leaves turn red\?[\s\S]*Describe a forest\./,
  'image-edit': /Saved .*room-with-plant\.png/,
  'images-night':
    /24 of 24\nSaved 10 images, 14 are left for the next run\.\nimages\.generate: 10 answered[\s\S]*About 0\.02 of 0\.02 USD/,
  'image-task':
    /Submitted (imgtask_\w+)\nAnother process waits for \1\nSaved .*lighthouse\.png, \d{4,} bytes\nA second call has task \1\n1 image\n/,
  'image-generate': /Saved .*lighthouse\.png/,
  'mcp-storyboard':
    /(create_image .*\n){4}create_video .*\nThe storyboard is ready\.\nSaved a-paper-boat-sails.*\.mp4\n.*killed \d times; 5 calls were charged\./,
  'mcp-tools': /The model calls files_read_file\(.*path.*\)\n.*says: The contents of /,
  models: /m-video custom/,
  openrouter:
    /sky blue\?[\s\S]*cost 0\.\d+ USD\ncharged: 0\.\d+ USD\n1 image\nSaved .*boat\.mp4\nspent: 0\.\d+ USD/,
  parse:
    /3 days in Lisbon, \d+ stops[\s\S]*so far: \{"city":"Porto","days":2,"stops":\[\{\}\]\}[\s\S]*checked: Porto/,
  'rate-limits': /6 answers, at most 2 at a time\n/,
  'raw-response': /200 application\/json\ntrue 1\n.*^true\n.*^object/ms,
  'run-tools':
    /calls get_weather\(.*\)\n.*celsius.*\n2 completions, \d+ tokens\n.*celsius.*\n4 turns/,
  'shutting-down':
    /Stopped: \w+Error: .*\nEverything is recorded: true\nThe next start has task_\w+, which is completed\.\n/,
  speech: /Saved .*fox\.mp3, \d{4,} bytes/,
  'speech-ffmpeg': /brown fox[\s\S]*(Played it|Could not play it)/,
  'stream-to-browser': /Why are dogs better than cats\?[\s\S]*\nstop, complete/,
  'structured-output':
    /3 days in Lisbon, [\s\S]*3 requests, 1 charged\n3 days in Porto, [\s\S]*4 requests, 2 charged/,
  testing: /Charged once, and not sent again\./,
  tracing: /sky blue\?[\s\S]*\nattempt 1 429\nattempt 2 200\nchat gpt-4o-mini completed \d+/,
  translate: /Guten Morgen!/,
  video: /Submitted task_\w+\n[\s\S]*completed 100\nSaved .*boat\.mp4, \d{4,} bytes/,
  'video-ledger':
    /The first attempt has task (task_\w+)\nSaved .*job-1\.mp4, \d{4,} bytes\nThe second attempt has task \1\nSaved/,
  // On a busy machine the first poll may come after the video is done.
  'video-queue': /^(Poll \d: \w+, again in \d+ ms\n)*task_\w+ is completed after \d polls/,
  'video-resume': /this process could end now\.\n.* is completed\./,
  'video-wait-all': /"A paper boat" is completed[\s\S]*3 of 3 videos/,
  'video-watch': /Watching task_\w+\n(Poll \d: \w+, \d+ %\n)+Done: task_/,
  'was-i-charged':
    /outcome: unknown\nrequest: \w+\nverdict: charged 1000 quota\n[\s\S]*used: \d+ quota/,
};

let emulator: Emulator;
let server: EmulatorServer;
let openRouter: EmulatorServer;
let imageTasks: Emulator;
let imageTaskServer: EmulatorServer;
beforeAll(async () => {
  emulator = createEmulator({ videoDuration: 1_000 });
  server = await emulator.listen();
  openRouter = await createEmulator({ gateway: 'openrouter', videoDuration: 1_000 }).listen();
  imageTasks = createEmulator({ quirks: { imageTasks: 'list', imageTaskTime: 1_000 } });
  imageTaskServer = await imageTasks.listen();
});
afterAll(() => Promise.all([server.close(), openRouter.close(), imageTaskServer.close()]));

/** The gateway that an example is for. */
function gatewayFor(name: string): EmulatorServer {
  if (name === 'image-task') return imageTaskServer;
  return name === 'openrouter' ? openRouter : server;
}

const demo = join(root, 'examples', 'demo', 'main.ts');
const runExample = join(root, 'examples', 'support', 'run.ts');

/** Starts a gateway that stands for a real one, whose requests and charges are counted. */
async function realGateway(onTestFinished: TestContext['onTestFinished']) {
  const folder = await temporaryFolder(undefined, onTestFinished);
  const real = createEmulator({ videoDuration: 1_000 });
  const realServer = await real.listen();
  const { url } = realServer;
  onTestFinished(() => realServer.close());
  const environment = {
    GATEWAY_BASE_URL: url,
    GATEWAY_API_KEY: real.apiKey,
    DEMO_OUTPUT: folder,
  };
  return { emulator: real, environment, folder };
}

/** Runs `example chat --real` in a terminal, and answers its question. */
function answerInTerminal(answer: string, environment: Readonly<Record<string, string>>) {
  const { PATH = '' } = process.env;
  const terminal = spawnInTerminal(process.execPath, [runExample, 'chat', '--real'], {
    cwd: root,
    env: { PATH, ...environment },
  });
  return new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    let output = '';
    let isAnswered = false;
    terminal.onData((data) => {
      output += data;
      if (isAnswered || !output.includes('[y/N] ')) return;
      isAnswered = true;
      terminal.write(answer);
    });
    terminal.onExit(({ exitCode: code }) => resolve({ code, output }));
  });
}

test('every example has an expectation', async () => {
  const names = (await readdir(join(root, 'examples'))).filter((name) => name.endsWith('.ts'));

  expect(names.map((name) => name.replace('.ts', '')).toSorted()).toEqual(
    Object.keys(expected).toSorted(),
  );
});

describe.concurrent('examples', () => {
  test('the demo does everything and pays once for each', { timeout: 60_000 }, async (context) => {
    const folder = await temporaryFolder(undefined, context.onTestFinished);

    const { code, output } = await runProgram(join(root, 'examples', 'demo', 'main.ts'), {
      DEMO_OUTPUT: folder,
    });

    expect(output).toMatch(/\n  \d+ tokens; the stream is complete\./);
    expect(output).toMatch(/11 of them charged, each once\.\n.*[/\\]index\.html\n/);
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    const shown = [...page.matchAll(/ src="([^"]+)"/g)].map(([, name]) => name);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(shown));
    expect(shown).toEqual(['lighthouse.png', 'with-moon.png', 'fox.mp3', 'boat.mp4']);
    expect(output).not.toMatch(/undefined|NaN|Skipped/);
    const next = output.split('Try next\n')[1]?.trimEnd().split('\n') ?? [];
    expect(next.map((line) => line.trim().split(/ {2,}/)[0])).toEqual([
      'npx model-gateway playground',
      'npm run example video-ledger',
      'docs/guides/getting-started.md',
    ]);
    expect(code).toBe(0);
  });

  test('the demo does not call the gateway of GATEWAY_BASE_URL without --real', async (context) => {
    const { emulator: real, environment, folder } = await realGateway(context.onTestFinished);

    const { code, output } = await runProgram(demo, { ...environment, GATEWAY_PROFILE: 'litellm' });

    expect(output).toContain(
      `(GATEWAY_BASE_URL is not used. To call ${environment.GATEWAY_BASE_URL}, which charges, add: -- --real)`,
    );
    expect(output).toMatch(/11 of them charged, each once\./);
    expect(await readdir(folder)).toContain('boat.mp4');
    expect([code, real.requests]).toEqual([0, []]);
  });

  test('--real without a terminal or --yes calls nothing', async (context) => {
    const { emulator: real, environment } = await realGateway(context.onTestFinished);

    const refused = await runProgram(demo, environment, root, ['--real']);
    const unset = await runProgram(demo, {}, root, ['--real', '--yes']);
    const example = await runProgram(runExample, environment, root, ['image-generate', '--real']);

    expect(refused.output).toMatch(/a video\) to http:.*, which charges for it\.\n.*add --yes\./);
    expect(unset.output).toContain('--real requires GATEWAY_BASE_URL and GATEWAY_API_KEY.');
    expect(example.output).toMatch(/^image-generate calls http:.*, which charges for it\.\n/);
    expect([refused.code, unset.code, example.code, real.requests]).toEqual([2, 2, 2, []]);
  });

  test('--real asks on a terminal, and an empty answer calls nothing', async (context) => {
    const { emulator: real, environment } = await realGateway(context.onTestFinished);

    const empty = await answerInTerminal('\r', environment);
    expect(empty).toEqual({ code: 1, output: expect.stringContaining('Nothing was called.') });
    expect(real.requests).toEqual([]);

    const yes = await answerInTerminal('y\r', environment);
    expect(yes.code).toBe(0);
    expect(real.charges).toHaveLength(1);
  });

  test('an example runs on the emulator even if GATEWAY_BASE_URL is set', async (context) => {
    const { emulator: real, environment, folder } = await realGateway(context.onTestFinished);

    const { code, output } = await runProgram(runExample, environment, folder, ['image-generate']);

    expect(output).toMatch(/\(on the emulator, http:[\s\S]*Saved .*lighthouse\.png/);
    expect([code, real.requests]).toEqual([0, []]);
  });

  test('the demo prints what it does before it installs or builds', async (context) => {
    const folder = await temporaryFolder(undefined, context.onTestFinished);
    const path = join(folder, 'examples', 'support', 'prepare.cjs');
    await cp(join(root, 'examples', 'support', 'prepare.cjs'), path);

    // There is nothing to install from in this folder.
    const { output } = await runProgram(path, {}, folder, ['demo']);

    expect(output).toMatch(
      /^The demo starts an emulator of a gateway.*nothing is charged.*\nInstalling packages/,
    );
    expect(output).toContain('"npm ci --no-audit --no-fund --loglevel=error" failed.');
  });

  test.for(Object.entries(expected))('%s runs', { timeout: 60_000 }, async (example, context) => {
    const [name, pattern] = example;
    const folder = await temporaryFolder(undefined, context.onTestFinished);

    const { code, output } = await runProgram(
      join(root, 'examples', `${name}.ts`),
      {
        GATEWAY_BASE_URL: gatewayFor(name).url,
        GATEWAY_API_KEY: emulator.apiKey,
      },
      folder,
    );

    expect(output).toMatch(pattern);
    expect(code).toBe(0);
    if (name === 'image-task') expect(imageTasks.charges).toHaveLength(1);
  });
});

test.each([
  { sent: 'broken JSON', body: '{"messages":' },
  { sent: 'JSON that is not an object', body: 'null' },
  { sent: 'a broken form', body: 'a=1', type: 'multipart/form-data; boundary=x' },
])('the recipe for a server answers 400 to $sent', async ({ body, type = 'application/json' }) => {
  const { handle } = await import('../examples/servers/handler.ts');
  const url = 'http://localhost/api/v1/chat/completions';

  const response = await handle(
    new Request(url, { method: 'POST', headers: { 'content-type': type }, body }),
  );

  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: { message: 'Send a JSON object or a form.' } });
});
