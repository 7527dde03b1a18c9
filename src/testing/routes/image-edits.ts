import type { Call } from '../server/call.ts';
import { readDataURL } from '../media/bytes.ts';
import { refusal } from '../server/errors.ts';
import type { Fields } from '../server/fields.ts';
import { list, record, text } from '../control/json.ts';
import { paint } from '../media/painting.ts';
import { decodePng, type Pixels } from '../media/png.ts';

/** The input images of an edit, if readable. */
export interface Edit {
  readonly image: Pixels | undefined;
  readonly mask: Pixels | undefined;
  /** Distinguishes images that cannot be read. */
  readonly seed: string;
}

async function readFile(file: Blob | undefined): Promise<Pixels | undefined> {
  if (file === undefined) return undefined;
  return decodePng(new Uint8Array(await file.arrayBuffer()));
}

/** Returns the URL from any of the formats that reference an image in JSON. */
function imageAddress(value: unknown): string | undefined {
  const { url, b64_json: encoded, image_url: nested } = record(value);
  return (
    text(value) ??
    text(url) ??
    text(nested) ??
    text(record(nested)['url']) ??
    (typeof encoded === 'string' ? `data:image/png;base64,${encoded}` : undefined)
  );
}

/**
 * Reads the image at a URL. The emulator sends no requests, so it only reads data URLs and its own files.
 */
async function readAddress(
  { world }: Call,
  address: string | undefined,
): Promise<Pixels | undefined> {
  if (address === undefined) return undefined;
  const inline = readDataURL(address);
  if (inline !== undefined) return decodePng(inline);
  const path = URL.canParse(address) ? new URL(address).pathname : address;
  const file = world.files.get(path);
  return file === undefined ? undefined : decodePng(await file.bytes());
}

async function readForm(fields: Fields): Promise<Edit | undefined> {
  const { files } = fields;
  // A single list value in a form arrives as text and is rejected.
  fields.list('images');
  const image =
    files.find(({ field }) => field === 'image') ??
    files.find(({ field }) => /^image\[\d*\]$/.test(field));
  if (image === undefined) return undefined;
  const mask = files.find(({ field }) => field === 'mask');
  return {
    image: await readFile(image.file),
    mask: await readFile(mask?.file),
    seed: `${image.filename} ${image.size}`,
  };
}

async function readJson(call: Call, fields: Fields): Promise<Edit> {
  const named = [fields.raw('image'), fields.raw('images')].flatMap((value) =>
    Array.isArray(value) ? list(value) : [value],
  );
  const messages = list(record(fields.raw('input'))['messages']);
  const parts = messages.flatMap((message) => list(record(message)['content']));
  const inMessages = parts.map((part) => record(part)['image']);
  const [address] = [...named, ...inMessages].flatMap((value) => imageAddress(value) ?? []);
  return {
    image: await readAddress(call, address),
    mask: await readAddress(call, imageAddress(fields.raw('mask'))),
    seed: address ?? '',
  };
}

/**
 * Reads the images of an edit request. A form without images cannot be converted for the vendor; JSON is
 * passed on unchanged.
 */
export async function readEdit(call: Call, fields: Fields): Promise<Edit> {
  if (call.body.kind !== 'multipart') return readJson(call, fields);
  const edit = await readForm(fields);
  if (edit === undefined) throw refusal(500, 'convert_request_failed', 'image is required');
  return edit;
}

const at = (picture: Pixels, x: number, y: number): number => {
  const column = Math.floor(x * picture.width);
  return (Math.floor(y * picture.height) * picture.width + column) * 4;
};

/**
 * Creates the edited image: the painted prompt replaces the original where the mask is transparent, or is
 * blended over all of it if there is no mask.
 */
export function editedPicture(
  { image, mask, seed }: Edit,
  prompt: string,
  size: { readonly width: number; readonly height: number } | undefined,
): Pixels {
  const { width, height } = size ?? image ?? { width: 1024, height: 1024 };
  if (image === undefined) return paint(`${prompt} ${seed}`, width, height);
  const painted = paint(prompt, width, height);
  const data = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [x, y] = [(pixel % width) / width, Math.floor(pixel / width) / height];
    const source = at(image, x, y);
    const opacity = mask === undefined ? 127 : mask.data[at(mask, x, y) + 3];
    const isKept = mask === undefined ? 0.5 : (opacity ?? 255) / 255;
    for (let channel = 0; channel < 3; channel += 1) {
      const before = image.data[source + channel] ?? 0;
      const after = painted.data[pixel * 4 + channel] ?? 0;
      data[pixel * 4 + channel] = Math.round(before * isKept + after * (1 - isKept));
    }
    data[pixel * 4 + 3] = 255;
  }
  return { width, height, data };
}
