import { answerFromMemory, jsonAnswer, openaiCompletion } from './lib/answers.ts';
import { apiKey, baseURL, compatible, prompt } from './lib/clients.ts';
import type { Effort, Part, PartResult, Values } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { selectFigures, taking, varying } from './lib/rounds.ts';
import { measureInTurns, serveInTurns } from './lib/turns.ts';
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

// `provider.ts <column> [base URL]`; without a URL, `fetch` answers from memory.
serveInTurns({
  file: import.meta.filename,
  clients,
  async connect(client, [url]) {
    if (url === undefined) answerFromMemory(jsonAnswer(openaiCompletion));
    const model = await client(url ?? baseURL);
    const content = [{ type: 'text' as const, text: prompt }];
    const work = async (): Promise<void> =>
      void (await model.doGenerate({ prompt: [{ role: 'user', content }] }));
    return { call: () => ({ work, warmup: 8_000, runs: 1_000, scale: 1_000 }) };
  },
});

async function measureCalls(
  columns: readonly Column[],
  ...words: readonly string[]
): Promise<readonly Values[]> {
  const taken = taking(clients, columns);
  const measured = await measureInTurns(import.meta.filename, taken, ['call'], { words });
  return selectFigures(measured, 'call');
}

async function measure({ check, columns }: Effort): Promise<PartResult> {
  // It has no gate.
  if (check) return { metrics: [] };
  return withServer(async (origin) => {
    const connected = await measureCalls(columns, `${origin}/whole`);
    const fromMemory = await measureCalls(columns);
    const label = 'doGenerate() of a provider for the AI SDK, CPU';
    return {
      metrics: [
        varying({ id: 'provider', label, unit: 'µs' }, connected),
        varying({ id: 'provider.memory', label: '– without a connection', unit: 'µs' }, fromMemory),
      ],
    };
  });
}

export const providerPart: Part = { name: 'provider', measure };
