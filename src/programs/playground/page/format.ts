import type { CallView, RivalName } from '../protocol.ts';

/** Formats milliseconds. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

export const clockTime = (at: number): string =>
  new Date(at).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });

/** The names of the kinds of calls. */
export const kindNames = {
  chat: 'Chat',
  image: 'Image',
  speech: 'Speech',
  transcription: 'Transcription',
  translation: 'Translation',
  embeddings: 'Embeddings',
  video: 'Video',
} as const;

/** Adds up the charges of a call. */
export function sumCharges({ attempts = [] }: CallView): {
  charges: number;
  amount: number;
  kept: number;
} {
  const charged = attempts.filter((attempt) => attempt.charged > 0);
  const sum = (list: typeof charged): number =>
    list.reduce((total, { charged: amount }) => total + amount, 0);
  return {
    charges: charged.length,
    amount: sum(charged),
    kept: sum(charged.filter(({ refunded }) => !refunded)),
  };
}

/** Returns whether a stopped call may be charged. The task of a video that is no longer checked goes on. */
export const mayBeCharged = ({ problem }: CallView): boolean => problem?.outcome === 'unknown';

/** Saves text as a download. */
export function saveText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Returns a parameter if it is a string, or an empty string. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Formats US dollars, for example `$0.0012` or `$4.50`. */
export const dollars = (amount: number): string =>
  amount >= 1
    ? `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${amount.toLocaleString('en', { maximumSignificantDigits: 4 })}`;

/** Formats credit units as US dollars if their price is known. */
export const price = (units: number, unitsPerDollar: number | undefined): string =>
  unitsPerDollar === undefined
    ? `${units.toLocaleString('en')} units`
    : dollars(units / unitsPerDollar);

/** The names of other SDKs. */
export const rivalNames: Readonly<Record<RivalName, string>> = {
  openai: 'openai',
  ai: 'AI SDK',
  replicate: 'replicate',
  '@fal-ai/client': 'fal',
};
