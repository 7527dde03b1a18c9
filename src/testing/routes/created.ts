import type { Quirks } from '../faults/quirks.ts';

/** A creation time in seconds, in the form of the quirk. */
export function createdField(seconds: number, { chatCreated }: Quirks): number | string {
  if (chatCreated === 'string') return String(seconds);
  return chatCreated === 'float' ? seconds + 0.25 : seconds;
}
