import { afterEach, expect, test, vi } from 'vitest';
import { emulated } from '../helpers/clients.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('fake timers control the pauses of a client and the clock of the emulator', async () => {
  vi.useFakeTimers();
  const { client, emulator } = emulated({}, { videoDuration: 60_000 });

  const film = client.videos.createAndWait({ model: 'm-video', prompt: 'A boat' });
  await vi.advanceTimersByTimeAsync(90_000);

  expect((await film).status).toBe('completed');
  expect(emulator.charges).toHaveLength(1);
});
