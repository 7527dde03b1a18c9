import { Gateway, tool } from '../../lib/model-gateway.ts';
import { chat, images, json, type Answer } from '../answers.ts';
import type { Counts, Scenario } from './scenario.ts';
import { Service } from './service.ts';

const [tenantA, tenantB] = ['sk-tenant-a', 'sk-tenant-b'];
const schema = { type: 'object', properties: {}, additionalProperties: false } as const;
const messages = [{ role: 'user', content: 'What time is it?' } as const];
const image = { model: 'image-model', prompt: 'A lighthouse' };
const model = 'chat-model';

const toolCall = json({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_time', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
});

/** Makes calls of tenant A, after whose start the client belongs to tenant B. */
async function count(
  answer: (index: number) => Answer,
  use: (origin: string) => Promise<unknown>,
): Promise<Counts> {
  await using service = await Service.open({
    reply: ({ index }) => ({ answer: answer(index), cost: 0.002 }),
  });
  await use(service.origin);
  const wrong = service.charges.filter(({ key }) => key === tenantB).length;
  return service.counts({ 'to the wrong tenant': wrong });
}

const toolAnswers = (index: number): Answer => (index === 0 ? toolCall : chat);

const connect = (baseURL: string): Gateway =>
  new Gateway({ apiKey: tenantA, baseURL, logLevel: 'off' });

async function connectOpenAI(origin: string) {
  const { default: OpenAI } = await import('openai');
  return new OpenAI({ apiKey: tenantA, baseURL: `${origin}/v1` });
}

const isKept = ({ requests, notes }: Counts): boolean =>
  requests > 0 && notes['to the wrong tenant'] === 0;

export const tenantScenarios: readonly Scenario[] = [
  {
    id: 'tenants-tools',
    label: 'The key of the client changes after `runTools()` was called',
    ours: () =>
      count(toolAnswers, async (origin) => {
        const client = connect(origin);
        const time = tool({ name: 'get_time', schema, execute: () => 'noon' });
        const run = client.chat.completions.runTools({ model, messages, tools: [time] });
        client.apiKey = tenantB;
        await run.done();
      }),
    peers: {
      openai: () =>
        count(toolAnswers, async (origin) => {
          const client = await connectOpenAI(origin);
          const run = client.chat.completions.runTools({
            model,
            messages,
            tools: [
              {
                type: 'function',
                function: {
                  name: 'get_time',
                  description: 'Returns the time.',
                  parameters: schema,
                  function: () => 'noon',
                },
              },
            ],
          });
          client.apiKey = tenantB;
          await run.done();
        }),
    },
    promise: 'none sent to the wrong tenant',
    isKept,
  },
  {
    id: 'tenants-images',
    label: 'The key of the client changes after six images were requested',
    ours: () =>
      count(
        () => images,
        async (origin) => {
          const client = connect(origin);
          const params = Array.from({ length: 6 }, () => image);
          const results = client.images.generateMany(params, { concurrency: 2 });
          client.apiKey = tenantB;
          for await (const { error } of results) if (error !== undefined) throw error;
        },
      ),
    peers: {
      openai: () =>
        count(
          () => images,
          async (origin) => {
            const client = await connectOpenAI(origin);
            const calls = Array.from({ length: 6 }, () => client.images.generate(image));
            client.apiKey = tenantB;
            await Promise.all(calls);
          },
        ),
    },
    promise: 'none sent to the wrong tenant',
    isKept,
  },
];
