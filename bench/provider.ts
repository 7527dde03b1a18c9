import { answerFromMemory, jsonAnswer, openaiCompletion } from './lib/answers.ts';
import { childPart, timeRuns } from './lib/child.ts';
import { apiKey, baseURL, compatible, prompt } from './lib/clients.ts';
import type { Column } from './lib/packages.ts';
import { withServer } from './memory/measure.ts';

/** A chat model of the AI SDK. */
interface Model {
  doGenerate(options: {
    prompt: { role: 'user'; content: { type: 'text'; text: string }[] }[];
  }): PromiseLike<unknown>;
}

/** Loads a provider for the AI SDK and returns its chat model. */
const clients: Readonly<Partial<Record<Column, (url: string) => Promise<Model>>>> = {
  'model-gateway': async (url) => {
    const { createModelGateway } = await import('../dist/ai-sdk/index.js');
    return createModelGateway({ apiKey, baseURL: url }).languageModel('chat-model');
  },
  ai: async (url) => (await compatible(url)).chatModel('chat-model'),
};

const label = 'doGenerate() of a provider for the AI SDK, CPU';

/** Each launch calls a server in another process, and then without a connection. */
export const providerPart = childPart({
  name: 'provider',
  file: import.meta.filename,
  clients,
  rounds: 5,
  rows: {
    connected: { id: 'provider', label, unit: 'µs' },
    memory: { id: 'provider.memory', label: '– without a connection', unit: 'µs' },
  },
  async run(connect) {
    const measure = async (url: string): Promise<number> => {
      const model = await connect(url);
      const content = [{ type: 'text' as const, text: prompt }];
      const call = () => model.doGenerate({ prompt: [{ role: 'user', content }] });
      await timeRuns(call, 5_000);
      return timeRuns(call, 5_000);
    };
    const connected = await withServer((origin) => measure(`${origin}/whole`));
    answerFromMemory(jsonAnswer(openaiCompletion));
    return { connected, memory: await measure(baseURL) };
  },
});
