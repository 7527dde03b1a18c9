import { encodePng } from '../../../../testing/media/png.ts';
import { paint } from '../../../../testing/media/painting.ts';
import { toTones } from '../../../../testing/media/tones.ts';
import { encodeWav } from '../../../../testing/media/wav.ts';

/** The prompts of the paid calls. A report does not contain them, even if the gateway quotes them. */
export const prompts = {
  word: 'Reply with the single word yes.',
  count: 'Count from one to thirty in words, one word a line.',
  tools: 'Use the tools: what are the weather and the local time in Lisbon?',
  schema: 'Where is the Eiffel Tower? Reply as JSON with the fields city and country.',
  think: 'Is 91 a prime number? Reply with yes or no.',
  picture: 'Which colour is this picture? Reply with one word.',
  firstText: 'a red apple',
  secondText: 'a green pear',
  image: 'A red circle on a white background',
  edit: 'Make the circle blue',
  speech: 'Good morning.',
  video: 'A paper boat on a pond',
} as const;

/** Creates a small picture. */
export async function createPicture(): Promise<File> {
  const bytes = await encodePng(paint(prompts.image, 256, 256));
  return new File([bytes], 'picture.png', { type: 'image/png' });
}

/** Returns a file as a data URL. */
export async function toDataURL(file: File): Promise<string> {
  return `data:${file.type};base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`;
}

/** Creates a second of sound, for gateways without a model that speaks. */
export function createSound(): File {
  const bytes = encodeWav(toTones(prompts.speech), prompts.speech);
  return new File([bytes], 'sound.wav', { type: 'audio/wav' });
}
