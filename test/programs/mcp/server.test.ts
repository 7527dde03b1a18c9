import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import { McpGateways } from './gateways.ts';
import { image, McpMachine } from './run.ts';

const video = { model: 'm-video', prompt: 'A paper boat', seconds: 4 };

describe('tools', () => {
  test('tools have titles, honest hints and schemas', async () => {
    const machine = await McpMachine.open();
    const { client } = await machine.connect();

    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toEqual([
      'create_image',
      'edit_image',
      'create_speech',
      'transcribe_audio',
      'create_video',
      'wait_video',
      'list_jobs',
      'list_models',
      'estimate_cost',
      'account_balance',
      'check_charge',
    ]);
    for (const { name, title, description = '', annotations, inputSchema, outputSchema } of tools) {
      for (const [field, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(schema, `${name}.${field}`).toHaveProperty('description', expect.any(String));
      }
      const isPaid = /^(create|edit|transcribe)_/.test(name);
      expect(title).toBeTypeOf('string');
      expect(description).toMatch(isPaid ? /Charged/ : /Free/);
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(annotations).toMatchObject({
        readOnlyHint: !isPaid,
        destructiveHint: false,
        idempotentHint: true,
      });
    }
  });

  test('tools are limited by --allow; --model makes the model optional', async () => {
    const machine = await McpMachine.open();
    const { client } = await machine.connect(['--allow', 'image', '--model', 'image=m-image']);

    const { tools } = await client.listTools();
    const created = await client.callTool({ name: 'create_image', arguments: { prompt: 'A cat' } });

    const paid = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
    expect(paid.map(({ name }) => name)).toEqual(['create_image', 'edit_image']);
    expect(created.structuredContent).toMatchObject({ state: 'done', model: 'm-image' });
  });

  test('free tools read models, prices, the balance and charges', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const { call_id } = await session.call('create_image', { ...image, n: 2 });

    const models = await session.call('list_models', { search: 'image' });
    const none = await session.call('list_models', { search: 'zzz' });
    const estimate = await session.call('estimate_cost', {
      tool: 'create_image',
      model: 'm-image',
      n: 3,
    });
    const unknown = await session.call('estimate_cost', { tool: 'create_image', model: 'other' });
    const balance = await session.call('account_balance');
    const charge = await session.call('check_charge', { call_id });

    expect(models).toMatchObject({ total: 1, models: [{ id: 'm-image' }] });
    expect(none.text).toBe('None of the 8 models has "zzz" in its name.');
    expect(estimate.cost_usd).toBeCloseTo(0.006);
    expect(unknown.text).toContain('the price list has no model "other"');
    expect(balance).toMatchObject({ used: { value: 2_000 } });
    expect(balance.text).toBe('used $0.004 (2,000 quota)\nlimit none');
    expect(charge).toMatchObject({ verdict: 'charged', amount: { value: 2_000, unit: 'quota' } });
    expect(charge.text).toMatch(/^It was charged\. \$0\.004 \(2,000 quota\)\. /);
  });
});

describe('the same call', () => {
  test('the same call is charged once, also at the same time and in another process', async () => {
    const machine = await McpMachine.open();
    const [one, other] = await Promise.all([machine.start(), machine.start()]);

    const results = await Promise.all([
      one.call('create_image', image),
      one.call('create_image', { ...image, name: 'other-name' }),
      other.call('create_image', image),
      other.call('create_image', image),
    ]);
    await one.end();
    const again = await machine.start();
    const later = await again.call('create_image', image);

    expect(machine.charges).toBe(1);
    const [first] = results;
    for (const result of [...results, later]) {
      expect(result).toMatchObject({ state: 'done', charged: 'yes', files: first?.files });
    }
    expect(later).toMatchObject({ reused: true });
    expect(later.text).toContain('nothing was charged now');
    expect(machine.saved).toHaveLength(1);
  });

  test('the same call is paid for anew with again, once for each text', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();

    await session.call('create_image', image);
    const second = await session.call('create_image', { ...image, again: 'brighter' });
    const repeated = await session.call('create_image', { ...image, again: 'brighter' });

    expect(machine.charges).toBe(2);
    expect(second).toMatchObject({ reused: false });
    expect(repeated).toMatchObject({ reused: true, files: second.files });
    expect(machine.saved).toHaveLength(2);
  });

  test('the same call is known by a call_id of the agent, which stands for one request', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();

    await session.call('create_image', { ...image, call_id: 'cover' });
    const repeated = await session.call('create_image', { ...image, call_id: 'cover' });
    const other = await session.call('create_image', {
      ...image,
      prompt: 'A cat',
      call_id: 'cover',
    });

    expect(repeated).toMatchObject({ reused: true, call_id: 'cover' });
    expect(other.isError).toBe(true);
    expect(other.text).toContain('call_id cover was used for another request');
    expect(machine.charges).toBe(1);
  });

  test('an edit is known by the content of its files', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const made = await session.call('create_image', image);
    const path = made.files?.[0]?.path ?? '';
    const copy = join(machine.workspace, 'copy.png');
    writeFileSync(copy, readFileSync(path));
    const edit = { model: 'm-image', prompt: 'Make it snow' };

    const one = await session.call('edit_image', { ...edit, images: [path] });
    const same = await session.call('edit_image', { ...edit, images: ['copy.png'] });
    const other = await session.call('create_image', { ...image, prompt: 'A cat' });
    const changed = await session.call('edit_image', {
      ...edit,
      images: [other.files?.[0]?.path],
    });

    expect(same).toMatchObject({ reused: true, call_id: one.call_id });
    expect(changed).toMatchObject({ reused: false, state: 'done' });
    expect(
      machine.emulator.requests.filter(({ operation }) => operation === 'images.edit'),
    ).toHaveLength(2);
  });

  test('the same speech and the same transcription are charged once', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const speech = { model: 'm-speech', text: 'The quick brown fox', format: 'wav' };

    const spoken = await session.call('create_speech', speech);
    const again = await session.call('create_speech', speech);
    const path = spoken.files?.[0]?.path ?? '';
    const heard = await session.call('transcribe_audio', { model: 'm-translation', path });
    await session.end();
    const next = await machine.connect();
    const heardAgain = await next.call('transcribe_audio', { model: 'm-translation', path });

    expect(path).toMatch(/the-quick-brown-fox-\w{8}\.wav$/);
    expect(again).toMatchObject({ reused: true, files: spoken.files });
    expect(heard).toMatchObject({ state: 'done', text: expect.stringMatching(/\w/) });
    expect(heardAgain).toMatchObject({ reused: true });
    const posts = machine.emulator.requests.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(2);
  });

  test('a call whose file was deleted is not paid for again by itself', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const made = await session.call('create_image', image);
    rmSync(made.files?.[0]?.path ?? '');

    const repeated = await session.call('create_image', image);

    expect(repeated.isError).toBe(true);
    expect(repeated.text).toContain('The files of this call are gone');
    expect(machine.charges).toBe(1);
  });
});

describe('a video', () => {
  // The last reading of a task has 12.5 s, in which a busy machine must read it.
  passTimeFaster(4);
  // The client itself waits for a minute.
  const patient = ['--wait', '10m'];

  test('a video returns a handle at once, and is saved by wait_video', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect(patient);
    const progress = vi.fn();

    const created = await session.call('create_video', video);
    const waited = await session.call(
      'wait_video',
      { call_id: created.call_id },
      { onprogress: progress },
    );
    const repeated = await session.call('create_video', video);

    expect(created).toMatchObject({ state: 'submitted', charged: 'yes', files: [] });
    expect(waited).toMatchObject({ state: 'done', files: [{ mime_type: 'video/mp4' }] });
    expect(repeated).toMatchObject({ state: 'done', reused: true });
    const [task] = machine.emulator.videos.list;
    const content = await machine.emulator.videos.content(task?.id ?? '');
    expect(readFileSync(waited.files?.[0]?.path ?? '').equals(content ?? Buffer.alloc(0))).toBe(
      true,
    );
    expect(progress).toHaveBeenCalled();
    expect(machine.charges).toBe(1);
  });

  test('a video is saved from the URL in the task if the content route fails', async () => {
    const machine = await McpMachine.open();
    machine.emulator.quirks.contentStatus = 403;
    const session = await machine.connect(patient);
    const { call_id } = await session.call('create_video', video);

    const waited = await session.call('wait_video', { call_id });

    expect(waited).toMatchObject({ state: 'done', files: [{ mime_type: 'video/mp4' }] });
  });

  test('a video that no URL returns ends with its URL', async () => {
    const machine = await McpMachine.open();
    machine.emulator.quirks.contentStatus = 501;
    // Not an https URL, so it is not fetched.
    machine.emulator.quirks.fileOrigin = 'other';
    const session = await machine.connect(patient);
    const { call_id } = await session.call('create_video', video);

    const waited = await session.call('wait_video', { call_id });

    expect(waited).toMatchObject({ state: 'failed', charged: 'yes' });
    expect(waited.text).toMatch(/could not be downloaded.*Download it from http:\S+\.mp4/s);
  });

  test('a video without a URL whose content route refuses for good ends as paid for, and is never created again', async () => {
    const cases = ([403, 405, 410, 501] as const).map((contentStatus) => ({
      name: `${contentStatus}`,
      quirks: { contentStatus, videoUrl: 'missing' } as const,
    }));
    const gateways = await McpGateways.start(cases, patient);
    const { session } = gateways;
    const create = () =>
      gateways.callEach('create_video', (mark) => ({ ...video, prompt: `A paper boat ${mark}` }));

    for (const { each, emulator, result } of [...(await create()), ...(await create())]) {
      const [task] = emulator.videos.list;
      expect(result, each.name).toMatchObject({
        isError: true,
        state: 'failed',
        charged: 'yes',
        status: 'completed, not downloaded',
        task_id: task?.id,
      });
      expect(result.text).toMatch(
        /is paid for\. wait_video .* tries the download again.*operator/s,
      );
      expect(result.text).toContain(`${each.name} domain not in whitelist`);
      expect(emulator.charges).toHaveLength(1);
    }

    // The operators have mended the route.
    for (const { emulator, result } of await create()) {
      emulator.quirks.contentStatus = 200;
      const waited = await session.call('wait_video', { call_id: result.call_id });
      expect(waited).toMatchObject({ state: 'done', charged: 'yes' });
      expect(emulator.videos.list).toHaveLength(1);
    }
  });

  test('a video without a URL whose content route keeps failing ends after three downloads', async () => {
    const quirks = { videoUrl: 'missing' } as const;
    const machine = await McpMachine.open({ quirks });
    const session = await machine.connect(patient);
    const { call_id } = await session.call('create_video', video);
    const fault = { type: 'error', status: 400 } as const;
    machine.emulator.fail({ operation: 'videos.downloadContent', fault, times: 100 });

    const waits = [];
    do {
      waits.push(await session.call('wait_video', { call_id }));
    } while (waits.at(-1)?.state === 'submitted' && waits.length < 5);

    // create_video may have begun the first download.
    expect(waits.length).toBeGreaterThanOrEqual(2);
    expect(waits[0]).toMatchObject({ state: 'submitted', status: 'downloading' });
    expect(waits[0]?.text).toMatch(/^The video is completed, but could not be downloaded/);
    expect(waits.at(-1)).toMatchObject({
      state: 'failed',
      charged: 'yes',
      status: 'completed, not downloaded',
    });
    const downloads = machine.emulator.requests.filter(({ path }) => path.endsWith('/content'));
    expect(downloads).toHaveLength(3);
    expect(machine.charges).toBe(1);
  });

  test('a video goes on in another process, by its call_id or its arguments', async () => {
    const machine = await McpMachine.open();
    const session = await machine.start();
    const { call_id } = await session.call('create_video', video);
    await session.kill('SIGKILL');

    const next = await machine.start();
    const listed = await next.call('list_jobs', { state: 'submitted' });
    const repeated = await next.call('create_video', video);
    const waited = await next.call('wait_video', { call_id });

    expect(listed).toMatchObject({ jobs: [{ call_id, label: 'A paper boat' }] });
    expect(repeated).toMatchObject({ state: 'submitted', reused: true });
    expect(waited).toMatchObject({ state: 'done' });
    expect(machine.charges).toBe(1);
  });

  test('a video is downloaded again if its file was deleted', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect(patient);
    const { call_id } = await session.call('create_video', video);
    const waited = await session.call('wait_video', { call_id });
    rmSync(waited.files?.[0]?.path ?? '');

    await session.call('create_video', video);
    const again = await session.call('wait_video', { call_id });

    expect(again).toMatchObject({ state: 'done', files: waited.files });
    expect(machine.saved).toHaveLength(1);
    expect(machine.charges).toBe(1);
  });

  test('a video returns its state after the time limit', async () => {
    const machine = await McpMachine.open();
    machine.emulator.clock.hold();
    const session = await machine.connect(['--wait', '10s']);
    const { call_id } = await session.call('create_video', video);

    const waited = await session.call('wait_video', { call_id });

    expect(waited).toMatchObject({ state: 'submitted', isError: false });
    expect(waited.text).toContain('Call wait_video with call_id');
  });

  test('a failed video says so, and is not created again by itself', async () => {
    const machine = await McpMachine.open();
    machine.emulator.clock.hold();
    const session = await machine.connect(patient);
    const { call_id } = await session.call('create_video', video);
    const [task] = machine.emulator.videos.list;
    machine.emulator.videos.fail(task?.id ?? '', 'The prompt was rejected by moderation.');

    const waited = await session.call('wait_video', { call_id });
    const repeated = await session.call('create_video', video);

    expect(waited).toMatchObject({ state: 'failed', isError: true });
    expect(waited.text).toMatch(/check_charge with call_id .* pass again/);
    expect(repeated).toMatchObject({ state: 'failed', isError: true });
    expect(machine.emulator.videos.list).toHaveLength(1);
  });
});

describe('results', () => {
  test('results are links to files; an image comes with a small picture', async () => {
    const machine = await McpMachine.open();
    const [thumbnail, none, full] = await Promise.all([
      machine.start(),
      machine.start(['--inline', 'none']),
      machine.start(['--inline', 'full']),
    ]);

    const made = await thumbnail.call('create_image', image);
    const plain = await none.call('create_image', image);
    const whole = await full.call('create_image', image);

    const path = made.files?.[0]?.path ?? '';
    const link = { type: 'resource_link', uri: pathToFileURL(path).href, mimeType: 'image/png' };
    expect(made.blocks).toMatchObject([{ type: 'text' }, link, { mimeType: 'image/jpeg' }]);
    expect(plain.blocks).toMatchObject([{ type: 'text' }, link]);
    expect(plain.blocks).toHaveLength(2);
    const data = readFileSync(path, 'base64');
    expect(whole.blocks.at(-1)).toEqual({ type: 'image', mimeType: 'image/png', data });
  });

  test('results can be read as resources, and other files cannot', async () => {
    const machine = await McpMachine.open();
    const { client } = await machine.connect();
    const made = await client.callTool({ name: 'create_image', arguments: image });
    const other = join(machine.workspace, 'secret.txt');
    writeFileSync(other, 'secret');

    const { resources } = await client.listResources();
    const [resource] = resources;
    const read = await client.readResource({ uri: resource?.uri ?? '' });

    expect(made.structuredContent).toMatchObject({ files: [{ uri: resource?.uri }] });
    expect(read.contents).toMatchObject([{ mimeType: 'image/png' }]);
    await expect(client.readResource({ uri: pathToFileURL(other).href })).rejects.toThrow(
      'is not a result',
    );
  });

  test('never replace a file', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const made = await session.call('create_image', image);
    const path = made.files?.[0]?.path ?? '';
    writeFileSync(path, 'mine');
    await session.end();
    rmSync(join(machine.machine.folder, 'state'), { recursive: true });

    const next = await (await machine.connect()).call('create_image', image);

    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(next.files?.[0]?.path).toBe(path.replace('.png', '-2.png'));
  });

  test('records have the first 80 characters of a prompt, neither the rest nor the key', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    const prompt = `${'A boat '.repeat(12)}with a secret cargo`;
    await session.call('create_image', { ...image, prompt });
    await session.end();

    const state = join(machine.machine.folder, 'state/model-gateway/mcp');
    const records = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));

    // The record of the call, and its entry in the ledger.
    expect(records).toHaveLength(2);
    expect(records.filter((text) => text.includes(prompt.slice(0, 80)))).toHaveLength(1);
    for (const text of records) {
      expect(text).not.toContain('secret');
      expect(text).not.toContain(machine.emulator.apiKey);
    }
    expect(statSync(join(state, 'jobs')).mode & 0o777).toBe(0o700);
  });

  test('results go to another folder if their own cannot be written when they arrive', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect();
    machine.emulator.fail({
      operation: 'images.generate',
      fault: { type: 'slow', milliseconds: 800 },
    });

    const making = session.call('create_image', image);
    await machine.requestArrives();
    rmSync(machine.output, { recursive: true });
    writeFileSync(machine.output, 'not a folder');
    const made = await making;

    expect(made).toMatchObject({ state: 'done', charged: 'yes' });
    expect(made.files?.[0]?.path).toContain(join('mcp', 'results'));
  });
});
