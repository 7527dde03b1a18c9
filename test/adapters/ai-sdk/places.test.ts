import { generateImage } from 'ai';
import { describe, expect, test } from 'vitest';
import { imageEncodings, imagePlaces } from '../../helpers/media-places.ts';
import { rejected } from '../../helpers/fake-time.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';
import { json } from '../../helpers/clients.ts';

const prompt = 'A boat';
const png = [0x89, 0x50, 0x4e, 0x47];

describe('generateImage', () => {
  test.each(imagePlaces)('returns an image at %s', async (imagePlace) => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { imagePlace } });

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
    expect(image.mediaType).toBe('image/png');
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(imageEncodings)('returns an image in base64 of the form %s', async (encoding) => {
    const quirks = { imageFormat: 'b64_json', imageEncoding: encoding } as const;
    const { provider } = emulatedProvider({}, { quirks });

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
  });

  test.each([
    ['URL-safe', 'data:image/png;base64,iVBORw-_'],
    ['with parameters', 'DATA:image/png;charset=utf-8; base64,iVBORw+/'],
    ['escaped', 'data:image/png;base64,iVBORw%2B%2F'],
    ['without padding', 'data:image/png;base64,iVBORw+/AA'],
    ['of text', 'data:image/svg+xml,%3Csvg%2F%3E'],
  ])('returns an image of a data URL %s', async (_, url) => {
    const { provider, requests } = scriptedProvider([json({ data: [{ url }] })]);

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    const start = url.includes('svg') ? '<svg/>' : '\x89PNG\x07';
    expect(Buffer.from(image.uint8Array).toString('latin1')).toContain(start.slice(0, 4));
    expect(requests).toHaveLength(1);
  });

  test('throws an error with the whole response if no image is found', async () => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { imagePlace: 'nowhere' } });

    const error = await rejected(
      generateImage({ model: provider.imageModel('m-image'), prompt, maxRetries: 2 }),
    );

    expect(error).toMatchObject({ responseBody: expect.stringContaining('"assets"') });
    expect(emulator.charges).toHaveLength(1);
  });
});
