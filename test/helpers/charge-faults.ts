import type { Gateway, Settlement } from '../../src/index.ts';
import type { Charge, Emulator, Fault } from '../../src/testing/index.ts';

const picture = new File([new Uint8Array(64)], 'a.png', { type: 'image/png' });

/** The charged operations. A remix needs an earlier task. */
export const operations = {
  'images.generate': (client: Gateway) =>
    client.images.generate({ model: 'm-image', prompt: 'A boat' }),
  'images.edit': (client: Gateway) =>
    client.images.edit({ model: 'm-image', prompt: 'A boat', image: picture }),
  'videos.create': (client: Gateway) =>
    client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 4 }),
  'videos.remix': (client: Gateway, task: string) =>
    client.videos.remix(task, { prompt: 'At night' }),
} as const;

export type ChargedOperation = keyof typeof operations;

export const operationNames: readonly ChargedOperation[] = [
  'images.generate',
  'images.edit',
  'videos.create',
  'videos.remix',
];

const answered = (status: number, charged = false): Fault => ({ type: 'error', status, charged });

/** Faults of a call, with and without a charge. */
export const faults: readonly Fault[] = [
  { type: 'reset', when: 'before-body' },
  { type: 'reset', when: 'before-charge' },
  { type: 'reset', when: 'after-charge' },
  { type: 'hang', charged: true },
  { type: 'hang', charged: false },
  answered(400),
  answered(429),
  answered(499, true),
  answered(500),
  answered(500, true),
  answered(503),
  { type: 'html', status: 502, charged: true },
  { type: 'html', status: 502 },
  { type: 'html', status: 200, charged: true },
  { type: 'html', status: 200 },
  { type: 'bare', status: 408, charged: true },
  { type: 'bare', status: 504 },
  { type: 'bare', status: 429 },
  { type: 'vendor-refusal', status: 500 },
  { type: 'vendor-refusal', status: 429 },
  { type: 'error-in-200' },
  { type: 'error-in-200', typed: false },
  { type: 'cut', bytes: 10 },
  { type: 'redirect', status: 302 },
  { type: 'redirect', status: 307 },
];

/** Charges since then that were not refunded. */
export function chargesSince(emulator: Emulator, before: number): readonly Charge[] {
  return emulator.charges.slice(before);
}

/** Describes how a verdict contradicts the account's charges; `undefined` if it is correct. */
export function faultIn(
  { verdict, amount }: Settlement,
  made: readonly Charge[],
): string | undefined {
  const kept = made.filter(({ refundedAt }) => refundedAt === undefined);
  const total = kept.reduce((sum, charge) => sum + charge.amount, 0);
  const isRight: Readonly<Record<Settlement['verdict'], boolean>> = {
    charged: kept.length > 0 && amount?.value === total,
    refunded: made.length > 0 && kept.length === 0,
    not_charged: made.length === 0,
    unknowable: amount === undefined,
  };
  return isRight[verdict] ? undefined : `${verdict} ${amount?.value}, but ${JSON.stringify(made)}`;
}
