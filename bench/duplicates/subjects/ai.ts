import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { generateImage, generateText, streamText } from 'ai';
import { chat, chatEvents, images } from '../answers.ts';
import { abortSignalOf, fetchOf, timeoutOf, type Subject, type Target } from '../subject.ts';

const prompt = 'Why does light bend?';

function connect(target: Target): OpenAICompatibleProvider {
  return createOpenAICompatible({
    name: 'gateway',
    apiKey: 'benchmark',
    baseURL: `${target.origin}/v1`,
    ...fetchOf(target),
  });
}

/** `streamText` never throws: it tells of errors through a callback and ends. */
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
        ...abortSignalOf(target),
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
        ...timeoutOf(target),
      }),
    answer: chat,
    stream: { run: stream, answer: chatEvents },
  },
];
