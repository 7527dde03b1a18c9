// Edits an image, with the image and a mask as files.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, toFile } from 'model-gateway';

const client = new Gateway();

const original = await client.images.generate({
  model: 'gpt-image-1',
  prompt: 'An empty room',
  size: '256x256',
  response_format: 'b64_json',
});
const room = Buffer.from(original.data[0]?.b64_json ?? '', 'base64');

const edited = await client.images.edit({
  model: 'gpt-image-1',
  image: await toFile(room, 'room.png'),
  prompt: 'Add a green plant',
  response_format: 'b64_json',
});
const path = join(tmpdir(), 'room-with-plant.png');
await writeFile(path, Buffer.from(edited.data[0]?.b64_json ?? '', 'base64'));
console.log(`Saved ${path}`);
