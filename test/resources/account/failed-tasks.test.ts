import { describe, expect, test, vi } from 'vitest';
import {
  BudgetError,
  GatewayError,
  ImageFailedError,
  memoryLedger,
  VideoFailedError,
  type Budget,
} from '../../../src/index.ts';
import { type EmulatorOptions, markers } from '../../../src/testing/index.ts';
import { emulated } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved, settle } from '../../helpers/fake-time.ts';

const image = { model: 'm-image', prompt: `${markers.fail} A red circle` };
const video = { model: 'm-video', prompt: `${markers.fail} A boat`, seconds: 4 };
/** The emulator's price of one image, or of one second of video. */
const price = 0.002;
const shapes = ['list', 'several', 'text', 'object', 'accepted', 'data', 'status-url'] as const;

function budgeted(budget: Budget, quirks: EmulatorOptions['quirks'] = {}) {
  const { client, emulator } = emulated({ budget }, { quirks });
  const spent = async () => (await client.account.spent()).budget?.spent;
  return { client, emulator, spent };
}

/** Makes calls until one of them is not sent. */
async function callUntilRefused(call: () => Promise<unknown>): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (let count = 0; count < 10; count += 1) {
    const { error } = await settle(call());
    if (BudgetError.isInstance(error)) break;
    errors.push(error);
  }
  return errors;
}

async function failureOfCall(call: PromiseLike<unknown>): Promise<GatewayError> {
  const error = await rejected(call);
  if (!GatewayError.isInstance(error)) throw error;
  return error;
}

describe('a task that failed after it was accepted', () => {
  fakeWaitingTime();

  test.each(shapes)(
    'a task that failed after it was accepted counts in a budget (%s)',
    async (imageTasks) => {
      for (const perCall of [undefined, { 'm-image': price }]) {
        const { client, emulator, spent } = budgeted({ limit: 3 * price, perCall }, { imageTasks });

        const errors = await callUntilRefused(async () => client.images.generate(image));

        expect(errors).toHaveLength(3);
        expect(errors.every((error) => ImageFailedError.isInstance(error))).toBe(true);
        expect(emulator.charges).toHaveLength(3);
        expect(await spent()).toBeCloseTo(3 * price, 9);
      }
    },
  );

  test('a task that failed after it was accepted counts for edits and videos too', async () => {
    const edits = budgeted({ limit: 3 * price }, { imageTasks: 'list' });
    const edit = { ...image, image: 'https://pictures.test/a.png' };
    const editErrors = await callUntilRefused(async () => edits.client.images.edit(edit));
    const videos = budgeted({ limit: 12 * price }, { videoRefund: false });
    const videoErrors = await callUntilRefused(() => videos.client.videos.createAndWait(video));

    expect(editErrors).toHaveLength(3);
    expect(edits.emulator.charges).toHaveLength(3);
    expect(videoErrors).toHaveLength(3);
    expect(videos.emulator.charges).toHaveLength(3);
  });

  test('a task that failed after it was accepted has an unknown outcome, and names how to look up the refund', async () => {
    const { client } = budgeted({ limit: 1 }, { imageTasks: 'list' });
    const failures = [
      await failureOfCall(client.images.generate(image)),
      await failureOfCall(client.videos.createAndWait(video)),
    ];

    expect(failures[0]).toBeInstanceOf(ImageFailedError);
    expect(failures[1]).toBeInstanceOf(VideoFailedError);
    for (const error of failures) {
      expect(error).toMatchObject({ outcome: 'unknown', unsafeToReplay: true });
      expect(String(error)).toContain(
        'Gateways usually refund the charge: account.settle(error) tells.',
      );
    }
    const [failure] = failures;
    expect(failure && (await client.account.settle(failure))).toMatchObject({ verdict: 'charged' });
  });

  test('a task that failed after it was accepted is released from the budget once a refund is proved', async () => {
    const { client, emulator, spent } = budgeted({ limit: 8 * price });
    const error = await failureOfCall(client.videos.createAndWait(video));
    expect(emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
    expect(await spent()).toBeCloseTo(4 * price, 9);

    await vi.advanceTimersByTimeAsync(10_000);
    const { verdict, isFinal } = await resolved(client.account.settle(error));
    expect({ verdict, isFinal }).toEqual({ verdict: 'refunded', isFinal: true });
    expect(await spent()).toBe(0);

    await client.account.settle(error);
    expect(await spent()).toBe(0);
  });

  test('a task that failed after it was accepted is not in the sums of spent() once a refund is proved', async () => {
    const { client } = budgeted({ limit: 1 });
    await resolved(client.videos.create({ ...video, prompt: 'A boat' }));
    const error = await failureOfCall(client.videos.createAndWait(video));
    const before = await client.account.spent();
    expect(before.estimate.value + before.possible.value).toBeCloseTo(8 * price, 9);

    await vi.advanceTimersByTimeAsync(10_000);
    await client.account.settle(error);
    await client.account.settle(error);

    const { estimate, possible, lines } = await client.account.spent();
    expect(estimate.value + possible.value).toBeCloseTo(4 * price, 9);
    expect(lines).toMatchObject([{ operation: 'videos.create', calls: 1, unknown: 0 }]);
  });

  test('a task that failed after it was accepted stays counted if the usage log has no refund', async () => {
    const { client, spent } = budgeted({ limit: 8 * price }, { videoRefund: false });
    const error = await failureOfCall(client.videos.createAndWait(video));
    await vi.advanceTimersByTimeAsync(10_000);

    await client.account.settle(error);

    expect(await spent()).toBeCloseTo(4 * price, 9);
  });

  test('a task that failed after it was accepted is not submitted again with the same call id', async () => {
    const { client, emulator } = budgeted({ limit: 1 }, { imageTasks: 'list' });
    const ledger = memoryLedger();
    const options = { ledger, callId: 'job-1', onUnknown: 'settle' } as const;

    const first = await rejected(client.images.generate(image, options));
    const second = await rejected(client.images.generate(image, options));

    expect(first).toBeInstanceOf(ImageFailedError);
    expect(second).toBeInstanceOf(ImageFailedError);
    expect(emulator.charges).toHaveLength(1);
    expect(await ledger.entry('job-1')).toMatchObject({ status: 'finished' });
  });
});
