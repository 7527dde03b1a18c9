import type { Emulator, Fault } from '../../src/testing/index.ts';
import { plainClient } from './emulator-client.ts';
import type { Setup } from './contract.ts';

const vendorFails = (status: number): Fault => ({ type: 'vendor-refusal', status });

/** Calls of the key whose usage log was recorded: two videos, and two that a vendor rejected. */
async function buyVideos(emulator: Emulator): Promise<void> {
  const { post } = plainClient(emulator);
  for (const fault of [undefined, undefined, vendorFails(500), vendorFails(429)]) {
    if (fault !== undefined) emulator.fail({ fault });
    await post('/v1/videos', { model: 'sora-2', prompt: 'A boat' });
  }
}

async function buyOthers(emulator: Emulator): Promise<void> {
  const { chat, post } = plainClient(emulator);
  await (await chat('Hi')).text();
  await (await chat('Hi', { stream: true })).text();
  await post('/v1/images/generations', { model: 'dall-e-3', prompt: 'A cat' });
  await post('/v1/audio/speech', { model: 'tts-1', input: 'Hello', voice: 'alloy' });
  emulator.fail({ fault: { type: 'error', status: 500 } });
  await chat('Hi');
  emulator.fail({ fault: { type: 'error-in-200' } });
  await chat('Hi');
}

async function readOften(emulator: Emulator): Promise<void> {
  const { get } = plainClient(emulator);
  for (let read = 0; read < 20; read += 1) await get('/api/log/token');
}

const quirks = { usageLogErrors: true };

/** Calls of the key whose usage log was recorded. */
export const bookSetups: readonly (readonly [names: RegExp, setup: Setup])[] = [
  [/^books after video submissions/, { options: { quirks }, prepare: buyVideos }],
  [
    /after a (finished and a failed video|refund)$/,
    {
      options: { quirks },
      prepare: async (emulator) => {
        await buyVideos(emulator);
        emulator.videos.fail(emulator.videos.list[0]?.id ?? '');
      },
    },
  ],
  [/^books after chat/, { options: { quirks }, prepare: buyOthers }],
  [/books(,| were) asked too often/, { prepare: readOften }],
];
