// Creates an image and saves it. The request is charged once, because it is never retried automatically.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from 'model-gateway';

const client = new Gateway();

const { data } = await client.images.generate({
  model: 'gpt-image-1',
  prompt: 'A lighthouse at dusk, watercolour',
  size: '512x512',
  response_format: 'b64_json',
});
const path = join(tmpdir(), 'lighthouse.png');
await writeFile(path, Buffer.from(data[0]?.b64_json ?? '', 'base64'));
console.log(`Saved ${path}`);
