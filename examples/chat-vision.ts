// Asks a question about an image.
import { Gateway } from 'model-gateway';

const client = new Gateway();

const drawn = await client.images.generate({
  model: 'gpt-image-1',
  prompt: 'A red circle on white',
  size: '128x128',
  response_format: 'b64_json',
});
const completion = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in this picture?' },
        {
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${drawn.data[0]?.b64_json ?? ''}` },
        },
      ],
    },
  ],
});
console.log(completion.choices[0]?.message.content);
