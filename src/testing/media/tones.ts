import { hash } from './hash.ts';

/** A note of the emulator's speech, or a rest if its pitch is 0. */
export interface Tone {
  /** In hertz. */
  readonly pitch: number;
  readonly milliseconds: number;
}

const perCharacter = 60;

// Five steps of a pentatonic scale over two octaves: any sequence sounds pleasant.
const pitches = [220, 247, 277, 330, 370, 440, 494, 554, 659, 740];

// A vowel with the consonants before it and at the end of the word; in other scripts a few characters.
const syllable = /[^aeiouy]{0,3}[aeiouy]+(?:[^aeiouy]{1,3}$)?|[^aeiouy]{1,3}/giu;

/** Converts text to tones instead of speech: one per syllable, and a rest after each word. */
export function toTones(text: string, speed = 1): Tone[] {
  const words = text.match(/\S+/gu) ?? [];
  return words.flatMap((word) => [
    ...(word.match(syllable) ?? []).map((part) => ({
      pitch: pitches[hash(part.toLowerCase()) % pitches.length] ?? 440,
      milliseconds: (part.length * perCharacter) / speed,
    })),
    { pitch: 0, milliseconds: perCharacter / speed },
  ]);
}

/**
 * Returns the loudness of a tone, relative to the maximum of 1, at a fraction of its duration. The tone
 * fades in and out to avoid clicks.
 */
export function loudness(share: number): number {
  return 0.25 * Math.sin(Math.PI * share);
}

/** Samples the tones in the middle of every step of `milliseconds`, up to the end of the last tone. */
export function* steps(
  tones: readonly Tone[],
  milliseconds: number,
): Generator<{ readonly pitch: number; readonly loudness: number }> {
  let now = milliseconds / 2;
  let start = 0;
  for (const tone of tones) {
    const end = start + tone.milliseconds;
    for (; now < end; now += milliseconds) {
      yield { pitch: tone.pitch, loudness: loudness((now - start) / tone.milliseconds) };
    }
    start = end;
  }
}
