import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import {
  imageDeliveries,
  imageFailures,
  reasonFor,
  remark,
  remarkedImage,
  speechDeliveries,
  transcriptForms,
  videoDeliveries,
  videoFailures,
} from '../../helpers/media-places.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { someOf } from '../../helpers/some-cases.ts';
import { markers } from '../../../src/testing/index.ts';
import { McpGateways } from './gateways.ts';
import { McpMachine, type JobResult } from './run.ts';

passTimeFaster();

/** Each case runs in a process of its own, all of them below one server at once. */
const timeout = 120_000;

const png = '\x89PNG';

/** Returns the beginning of the first file of a result. */
function beginningOf({ files = [] }: JobResult): string {
  const [file] = files;
  return file === undefined ? '' : readFileSync(file.path).toString('latin1', 0, 8);
}

describe('create_image', () => {
  const model = 'm-image';
  const size = '64x64';

  test('saves images of every delivery', { timeout }, async () => {
    const gateways = await McpGateways.start([...someOf(imageDeliveries), remarkedImage]);

    const calls = await gateways.callEach('create_image', (prompt) => ({ model, prompt, size }));

    for (const { each, emulator, result } of calls) {
      expect(result, each.name).toMatchObject({ state: 'done', charged: 'yes' });
      expect(result.files?.[0]?.mime_type, each.name).toBe('image/png');
      expect(beginningOf(result), each.name).toMatch(png);
      expect(emulator.charges, each.name).toHaveLength(1);
      expect(JSON.stringify(emulator.requests), each.name).not.toContain('s3cr3t');
    }
    const remarks = calls.filter(({ result }) => result.text.includes(remark));
    expect(remarks.map(({ each }) => each.name)).toEqual([remarkedImage.name]);
  });

  test('ends with the reason of every failure', { timeout }, async () => {
    const gateways = await McpGateways.start(someOf(imageFailures));

    const calls = await gateways.callEach('create_image', (mark) => ({
      model,
      prompt: `${mark} ${markers.fail}`,
      size,
    }));

    for (const { each, emulator, result } of calls) {
      expect(result, each.name).toMatchObject({ isError: true, state: 'failed' });
      expect(result.text).toMatch(reasonFor(each.quirks.videoFailure, /refused by moderation/));
      expect(emulator.charges, each.name).toHaveLength(1);
    }
  });

  test('saves the whole response if no image was found in it', async () => {
    const machine = await McpMachine.open({ quirks: { imagePlace: 'nowhere' } });
    const session = await machine.connect();

    const result = await session.call('create_image', { model, prompt: 'A boat' });

    const [file] = result.files ?? [];
    expect(result).toMatchObject({ isError: true, state: 'unknown', charged: 'unknown' });
    expect(file).toMatchObject({ mime_type: 'application/json' });
    expect(result.text).toContain(file?.path);
    expect(JSON.parse(readFileSync(file?.path ?? '', 'utf8'))).toHaveProperty('assets');
    expect(machine.emulator.charges).toHaveLength(1);
  });
});

test('create_speech saves speech of every delivery', { timeout }, async () => {
  const gateways = await McpGateways.start(someOf(speechDeliveries));

  const calls = await gateways.callEach('create_speech', (text) => ({ model: 'm-speech', text }));

  for (const { each, emulator, result } of calls) {
    expect(result, each.name).toMatchObject({ state: 'done', charged: 'yes' });
    expect(beginningOf(result), each.name).toMatch(/^ID3/);
    expect(emulator.charges, each.name).toHaveLength(1);
  }
});

describe('transcribe_audio', () => {
  test('returns transcripts in every form', { timeout }, async () => {
    const cases = someOf(transcriptForms).map((transcriptForm) => ({
      name: transcriptForm,
      quirks: { transcriptForm },
    }));
    const gateways = await McpGateways.start(cases);
    const path = join(gateways.machine.workspace, 'talk.mp3');
    writeFileSync(path, mediaHeads.mp3);

    const calls = await gateways.callEach('transcribe_audio', (prompt) => ({
      model: 'whisper-1',
      path,
      prompt,
    }));

    for (const { each, result } of calls) {
      expect(result, each.name).toMatchObject({ state: 'done', charged: 'yes' });
      expect(result.text, each.name).toMatch(/^This is the transcription of talk\.mp3/);
    }
  });

  test('sends recordings under names that strict gateways accept', { timeout }, async () => {
    const names = ['note.opus', 'note.oga', 'a\u0001b.mp3'];
    const quirks = { strictUploads: true } as const;
    const gateways = await McpGateways.start(names.map((name) => ({ name, quirks })));
    const { workspace } = gateways.machine;
    for (const name of names) {
      writeFileSync(join(workspace, name), mediaHeads[name.endsWith('mp3') ? 'mp3' : 'ogg']);
    }

    const calls = await gateways.callEach('transcribe_audio', (prompt, { name }) => ({
      model: 'whisper-1',
      path: join(workspace, name),
      prompt,
    }));

    for (const { each, result } of calls) {
      expect(result, each.name).toMatchObject({ state: 'done', charged: 'yes' });
    }
  });
});

describe('wait_video', () => {
  const model = 'm-video';

  test('saves videos of every delivery', { timeout }, async () => {
    const remarked = { name: 'taskRemark', quirks: { taskRemark: true } };
    const gateways = await McpGateways.start([...someOf(videoDeliveries), remarked]);

    const calls = await gateways.callEach('create_video', (mark) => ({ model, prompt: mark }));

    for (const { each, emulator, result } of calls) {
      expect(result, each.name).toMatchObject({ state: 'done', charged: 'yes' });
      expect(beginningOf(result), each.name).toMatch(/ftyp$/);
      expect(emulator.charges, each.name).toHaveLength(1);
    }
    const remarks = calls.filter(({ result }) => result.text.includes(remark));
    expect(remarks.map(({ each }) => each.name)).toEqual([remarked.name]);
  });

  test('ends with the reason of every failure', { timeout }, async () => {
    const cases = someOf(videoFailures).map((form) => ({
      name: form,
      quirks: { videoFailure: form },
    }));
    const gateways = await McpGateways.start(cases);

    const calls = await gateways.callEach('create_video', (mark) => ({
      model,
      prompt: `${mark} ${markers.fail}`,
    }));

    for (const { each, result } of calls) {
      expect(result, each.name).toMatchObject({ isError: true, state: 'failed' });
      expect(result.text).toMatch(reasonFor(each.quirks.videoFailure, /safety review/));
    }
  });
});
