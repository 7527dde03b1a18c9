import { hash } from './hash.ts';

/** A note of the emulator's speech, or a rest when its pitch is 0. */
export interface Tone {
  /** In hertz. */
  readonly pitch: number;
  readonly milliseconds: number;
}

const perCharacter = 60;

// Five steps of a pentatonic scale over two octaves: any row of them sounds pleasant.
const pitches = [220, 247, 277, 330, 370, 440, 494, 554, 659, 740];

/** What the emulator plays instead of speaking: one tone for each word, and a rest after it. */
export function tonesOf(text: string, speed = 1): Tone[] {
  const words = text.match(/\S+/gu) ?? [];
  return words.flatMap((word) => [
    {
      pitch: pitches[hash(word.toLowerCase()) % pitches.length] ?? 440,
      milliseconds: (word.length * perCharacter) / speed,
    },
    { pitch: 0, milliseconds: perCharacter / speed },
  ]);
}

/** The pitch of every step of `milliseconds`, up to the end of the last tone. */
export function* steps(tones: readonly Tone[], milliseconds: number): Generator<number> {
  let now = 0;
  let end = 0;
  for (const tone of tones) {
    end += tone.milliseconds;
    for (; now < end; now += milliseconds) yield tone.pitch;
  }
}
