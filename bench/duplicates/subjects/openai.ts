import OpenAI from 'openai';
import { chat, chatEvents, imageEvents, images, video } from '../answers.ts';
import { fetchOption, readAll, timeoutOption, type Subject, type Target } from '../subject.ts';

function connect(target: Target): OpenAI {
  return new OpenAI({
    apiKey: 'benchmark',
    baseURL: `${target.origin}/v1`,
    ...timeoutOption(target),
    ...fetchOption(target),
  });
}

const image = { model: 'image-model', prompt: 'A lighthouse' };
const conversation = {
  model: 'chat-model',
  messages: [{ role: 'user', content: 'Why does light bend?' } as const],
};

export const openai: readonly Subject[] = [
  {
    package: 'openai',
    call: 'images.generate',
    pays: 'job',
    run: (target) => connect(target).images.generate(image),
    answer: images,
    stream: {
      run: async (target) =>
        readAll(await connect(target).images.generate({ ...image, stream: true })),
      answer: imageEvents('image_generation'),
    },
  },
  {
    package: 'openai',
    call: 'videos.create',
    pays: 'job',
    run: (target) => connect(target).videos.create({ prompt: 'A lighthouse' }),
    answer: video,
  },
  {
    package: 'openai',
    call: 'chat.completions.create',
    pays: 'metered',
    run: (target) => connect(target).chat.completions.create(conversation),
    answer: chat,
    stream: {
      run: async (target) =>
        readAll(await connect(target).chat.completions.create({ ...conversation, stream: true })),
      answer: chatEvents,
    },
  },
];
