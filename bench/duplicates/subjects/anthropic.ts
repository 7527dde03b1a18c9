import Anthropic from '@anthropic-ai/sdk';
import { anthropicEvents, anthropicMessage } from '../../lib/answers.ts';
import { json } from '../answers.ts';
import { fetchOption, readAll, timeoutOption, type Subject, type Target } from '../subject.ts';

function connect(target: Target): Anthropic {
  return new Anthropic({
    apiKey: 'benchmark',
    baseURL: target.origin,
    ...timeoutOption(target),
    ...fetchOption(target),
  });
}

const params = {
  model: 'chat-model',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Why does light bend?' } as const],
};

export const anthropic: readonly Subject[] = [
  {
    package: '@anthropic-ai/sdk',
    call: 'messages.create',
    pays: 'metered',
    run: (target) => connect(target).messages.create(params),
    answer: json(anthropicMessage),
    stream: {
      run: async (target) =>
        readAll(await connect(target).messages.create({ ...params, stream: true })),
      answer: { contentType: 'text/event-stream', body: anthropicEvents(8) },
    },
  },
];
