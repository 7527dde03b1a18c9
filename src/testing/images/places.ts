import { base64, type Bytes, concat, readDataURL } from '../media/bytes.ts';
import { record, text } from '../control/json.ts';
import type { ImageEncoding, ImagePlace } from '../faults/quirks.ts';
import type { JsonObject } from '../../types.ts';

/** Places that hold bytes instead of URLs. */
const bytePlaces: ReadonlySet<ImagePlace> = new Set([
  'artifacts',
  'inlineData',
  'predictions',
  'file',
]);

/** Returns whether images at a place are sent as bytes, whatever format the request has. */
export const holdsBytes = (place: ImagePlace): boolean => bytePlaces.has(place);

/** Returns the URL of an image, or its bytes as text. */
function readContent(item: unknown): string {
  const { url, b64_json: encoded } = record(item);
  return text(url) || text(encoded) || '';
}

/** Encodes the bytes of an image. */
export function encodeImage(bytes: Bytes, encoding: ImageEncoding): string {
  const plain = base64(bytes);
  switch (encoding) {
    case 'plain':
      return plain;
    case 'data-url':
      return `data:image/png;base64,${plain}`;
    case 'url-safe':
      return plain.replaceAll('+', '-').replaceAll('/', '_');
    case 'line-breaks':
      return plain.replaceAll(/.{76}/g, '$&\r\n');
    case 'no-padding': {
      // A byte after the end of a PNG is ignored, and without one there may be no padding to omit.
      const isWhole = bytes.length % 3 === 0;
      const padded = isWhole ? base64(concat([bytes, Uint8Array.of(0)])) : plain;
      return padded.replaceAll('=', '');
    }
  }
}

/** Returns the body of a response with its images at another place than `data`. */
function bodyWith(place: ImagePlace, items: readonly unknown[]): JsonObject {
  const contents = items.map(readContent);
  const [first] = contents;
  const content = contents.map((image) => ({ image }));
  const inline = (name: string, type: string) =>
    contents.map((data) => ({ [name]: { [type]: 'image/png', data } }));
  switch (place) {
    case 'images':
      return { images: items, seed: 7 };
    case 'image-texts':
      return { images: contents };
    case 'output.results':
      return { output: { task_status: 'SUCCEEDED', results: items } };
    case 'message-content':
      return { output: { choices: [{ finish_reason: 'stop', message: { content } }] } };
    case 'result.image':
      return { result: { image: first }, success: true, errors: [], messages: [] };
    case 'artifacts':
      return { artifacts: contents.map((image) => ({ base64: image, finishReason: 'SUCCESS' })) };
    case 'data-texts':
      return { data: contents };
    case 'message.images': {
      const images = contents.map((url) => ({ type: 'image_url', image_url: { url } }));
      return { choices: [{ finish_reason: 'stop', message: { content: 'Here it is.', images } }] };
    }
    case 'markdown': {
      const links = contents.map((url) => `![image](${url})`).join('\n');
      return { choices: [{ finish_reason: 'stop', message: { content: `Done:\n${links}` } }] };
    }
    case 'inlineData':
      return { candidates: [{ content: { parts: inline('inlineData', 'mimeType') } }] };
    case 'predictions': {
      const predictions = contents.map((image) => ({
        bytesBase64Encoded: image,
        mimeType: 'image/png',
      }));
      return { predictions };
    }
    case 'data.data':
      return { code: 'success', message: '', data: { data: items } };
    case 'data.image_urls':
      return { code: 0, data: { image_urls: contents } };
    case 'data.images':
      return { data: { images: items } };
    case 'data.image_url':
      return { data: contents.map((url) => ({ image_url: url })) };
    // No reader can know this field. The image is paid for nevertheless.
    case 'nowhere':
      return { assets: contents.map((locator) => ({ locator: locator.split('').toReversed() })) };
    case 'data':
    case 'file':
      return { data: items };
  }
}

/** Responds with images at the place of the quirk. */
export function placeImages(
  place: ImagePlace,
  { data, ...others }: JsonObject & { readonly data: readonly unknown[] },
): Response {
  const [first] = data;
  if (place !== 'file' || first === undefined) {
    return Response.json({ ...others, ...bodyWith(place, data) });
  }
  const bytes = readDataURL(`data:image/png;base64,${readContent(first)}`);
  return new Response(bytes ?? null, { headers: { 'content-type': 'image/png' } });
}
