import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { generateImage, generateText, streamText } from 'ai';
import { chat, chatEvents, images } from '../answers.ts';
import {
  abortSignalOption,
  fetchOption,
  timeoutOption,
  type Subject,
  type Target,
} from '../subject.ts';

const prompt = 'Why does light bend?';

function connect(target: Target): OpenAICompatibleProvider {
  return createOpenAICompatible({
    name: 'gateway',
    apiKey: 'benchmark',
    baseURL: `${target.origin}/v1`,
    ...fetchOption(target),
  });
}

/** `streamText` never throws: it reports errors through a callback and ends. */
async function stream(target: Target): Promise<void> {
  const errors: unknown[] = [];
  const { textStream } = streamText({
    model: connect(target).chatModel('chat-model'),
    prompt,
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  await textStream.pipeTo(new WritableStream());
  if (errors.length > 0) throw errors[0];
}

export const ai: readonly Subject[] = [
  {
    package: 'ai',
    call: 'generateImage',
    pays: 'job',
    run: (target) =>
      generateImage({
        model: connect(target).imageModel('image-model'),
        prompt: 'A lighthouse',
        ...abortSignalOption(target),
      }),
    answer: images,
  },
  {
    package: 'ai',
    call: 'generateText',
    pays: 'metered',
    run: (target) =>
      generateText({
        model: connect(target).chatModel('chat-model'),
        prompt,
        ...timeoutOption(target),
      }),
    answer: chat,
    stream: { run: stream, answer: chatEvents },
  },
];
