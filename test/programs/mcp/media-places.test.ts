import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  imageEncodings,
  imagePlaces,
  transcriptForms,
  videoFailures,
} from '../../helpers/media-places.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { markers } from '../../../src/testing/index.ts';
import { McpMachine, type JobResult } from './run.ts';

const png = [0x89, 0x50, 0x4e, 0x47];
const paid = ['--allow', 'image', '--model', 'image=m-image'];

function firstBytes({ files = [] }: JobResult): number[] {
  const [file] = files;
  return file === undefined ? [] : [...readFileSync(file.path).subarray(0, 4)];
}

/** Places of each kind. The other doors try all places; here each call starts a process. */
const kinds = imagePlaces.filter((place) =>
  /^(images|message-content|artifacts|data-texts|inlineData|file)$/.test(place),
);

describe('create_image', () => {
  test('saves images at other places', async () => {
    const machine = await McpMachine.open();
    const session = await machine.start(paid);

    for (const place of kinds) {
      machine.emulator.quirks.imagePlace = place;
      const result = await session.call('create_image', { prompt: `A boat at ${place}` });
      expect(result, place).toMatchObject({ state: 'done', charged: 'yes' });
      expect(result.files?.[0]?.mime_type, place).toBe('image/png');
      expect(firstBytes(result), place).toEqual(png);
    }
    expect(machine.emulator.charges).toHaveLength(kinds.length);
  });

  test('saves images of a stream that was not requested', async () => {
    const machine = await McpMachine.open({ quirks: { imageStream: 'result-always' } });
    const session = await machine.start(paid);

    const result = await session.call('create_image', { prompt: 'A boat' });

    expect(firstBytes(result)).toEqual(png);
  });

  test('saves images in every form of base64', async () => {
    const machine = await McpMachine.open({ quirks: { imageFormat: 'b64_json' } });
    const session = await machine.start(paid);

    for (const encoding of imageEncodings) {
      machine.emulator.quirks.imageEncoding = encoding;
      const result = await session.call('create_image', { prompt: `A boat as ${encoding}` });
      expect(result.files?.[0]?.mime_type, encoding).toBe('image/png');
      expect(firstBytes(result), encoding).toEqual(png);
    }
  });

  test('saves the whole response if no image was found in it', async () => {
    const machine = await McpMachine.open({ quirks: { imagePlace: 'nowhere' } });
    const session = await machine.start(paid);

    const result = await session.call('create_image', { prompt: 'A boat' });

    const [file] = result.files ?? [];
    expect(result).toMatchObject({ isError: true, state: 'unknown', charged: 'unknown' });
    expect(file).toMatchObject({ mime_type: 'application/json' });
    expect(result.text).toContain(file?.path);
    expect(JSON.parse(readFileSync(file?.path ?? '', 'utf8'))).toHaveProperty('assets');
    expect(machine.emulator.charges).toHaveLength(1);
  });
});

test('create_speech saves speech at other places, and transcribe_audio reads other forms', async () => {
  const machine = await McpMachine.open();
  const session = await machine.start(['--allow', 'speech,transcription']);
  const places = ['data.audio', 'output.audio.url', 'data-events'] as const;
  let path = '';

  for (const place of places) {
    machine.emulator.quirks.speechPlace = place;
    const text = `hello at ${place}`;
    const made = await session.call('create_speech', { model: 'm-speech', text });
    path = made.files?.[0]?.path ?? '';
    expect(made, place).toMatchObject({ state: 'done', charged: 'yes' });
    expect(readFileSync(path).subarray(0, 3).toString(), place).toBe('ID3');
  }
  for (const form of transcriptForms) {
    machine.emulator.quirks.transcriptForm = form;
    const model = 'whisper-1';
    const heard = await session.call('transcribe_audio', { model, path, call_id: `t-${form}` });
    expect(heard.text, form).toContain('hello at data-events');
  }
  expect(machine.emulator.charges).toHaveLength(places.length + transcriptForms.length);
});

test('transcribe_audio sends Ogg sound under a name that strict gateways accept', async () => {
  const machine = await McpMachine.open({ quirks: { strictUploads: true } });
  const path = join(machine.workspace, 'note.opus');
  writeFileSync(path, mediaHeads.ogg);
  const session = await machine.start(['--allow', 'transcription']);

  const heard = await session.call('transcribe_audio', { model: 'whisper-1', path });

  expect(heard).toMatchObject({ state: 'done', charged: 'yes' });
});

test('create_video saves a video with its id and URL at other places, after a 202', async () => {
  const quirks = {
    videoId: 'Resp.video_id',
    videoUrl: 'result.videos',
    contentStatus: 403,
    taskPending: 'page',
  } as const;
  const machine = await McpMachine.open({ quirks });
  const session = await machine.start(['--allow', 'video']);

  const call = { model: 'm-video', prompt: 'A boat' };
  const { call_id } = await session.call('create_video', call);
  const made = await session.call('wait_video', { call_id });

  const [file] = made.files ?? [];
  expect(made).toMatchObject({ state: 'done', charged: 'yes' });
  expect(readFileSync(file?.path ?? '').toString('latin1', 4, 8)).toBe('ftyp');
  expect(machine.emulator.charges).toHaveLength(1);
});

test.each(videoFailures)('wait_video ends with the reason of a failure: %s', async (form) => {
  const machine = await McpMachine.open({ quirks: { videoFailure: form } });
  const session = await machine.start(['--allow', 'video']);

  const call = { model: 'm-video', prompt: `A boat ${markers.fail}` };
  const { call_id } = await session.call('create_video', call);
  const ended = await session.call('wait_video', { call_id });

  expect(ended).toMatchObject({ isError: true, state: 'failed' });
  expect(ended.text).toMatch(form === 'moderation' ? /moderation/ : /safety review/);
});
