import Anthropic from '@anthropic-ai/sdk';
import { events, json } from '../answers.ts';
import { fetchOf, readAll, timeoutOf, type Subject, type Target } from '../subject.ts';

function connect(target: Target): Anthropic {
  return new Anthropic({
    apiKey: 'benchmark',
    baseURL: target.origin,
    ...timeoutOf(target),
    ...fetchOf(target),
  });
}

const params = {
  model: 'chat-model',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Why does light bend?' } as const],
};

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'chat-model',
  content: [{ type: 'text', text: 'Light takes the path of least time.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 8 },
};

function named(data: { readonly type: string }): { event: string; data: unknown } {
  return { event: data.type, data };
}

const deltas = ['Light', ' takes', ' the', ' path', ' of', ' least', ' time', '.'].map((text) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
}));

const stream = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...deltas,
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 8 },
  },
  { type: 'message_stop' },
];

export const anthropic: readonly Subject[] = [
  {
    package: '@anthropic-ai/sdk',
    call: 'messages.create',
    pays: 'metered',
    run: (target) => connect(target).messages.create(params),
    answer: json(message),
    stream: {
      run: async (target) =>
        readAll(await connect(target).messages.create({ ...params, stream: true })),
      answer: events(...stream.map(named)),
    },
  },
];
