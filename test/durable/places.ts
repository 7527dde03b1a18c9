import type { VideoCreateParams } from '../../dist/index.js';

/** Where a worker is killed: by itself, or by the gateway that its request has reached. */
export const places = [
  { name: 'before the submission', by: 'worker' },
  { name: 'claimed, and nothing sent', by: 'worker' },
  { name: 'the request travels', by: 'gateway' },
  { name: 'charged, and the response travels', by: 'gateway' },
  { name: 'response received, and not in the ledger', by: 'worker' },
  { name: 'in the ledger, and the call has not returned', by: 'worker' },
  { name: 'submitted, and the step is not recorded', by: 'worker' },
  { name: 'the poll travels', by: 'gateway' },
  { name: 'polled, and the step is not recorded', by: 'worker' },
  { name: 'between polls', by: 'worker' },
  { name: 'during the download', by: 'gateway' },
  { name: 'saved, and the step is not recorded', by: 'worker' },
] as const;

export type Place = (typeof places)[number]['name'];

/** An order for a video. Its model has a name of its own, by which all its requests are recognised. */
export interface Order {
  readonly id: string;
  readonly model: string;
  readonly path: string;
}

export function paramsFor({ model }: Order): VideoCreateParams {
  return { model, prompt: 'A paper boat' };
}
