/** The table of operations, and that of charge classes. */
import { type ChargeClass, type Endpoint, endpoints } from '../../src/endpoints.ts';
import { outputRules } from '../../src/http/outputs.ts';
import { toTable } from './section.ts';

/** Calls that use an operation besides the one that it is named after. */
const otherCalls: Readonly<Record<string, readonly string[]>> = {
  'chat.completions.create': [
    'chat.completions.stream',
    'chat.completions.parse',
    'chat.completions.runTools',
  ],
  'generate.content': ['generate.runTools'],
  'embeddings.create': ['embeddings.createMany'],
  'images.generate': ['images.generateMany'],
  'responses.create': ['responses.parse'],
  'videos.create': ['videos.createAndWait', 'videos.createAndWaitAll'],
  'videos.retrieve': ['videos.wait', 'videos.watch', 'videos.waitAll', 'videos.step'],
  'videos.remix': ['videos.remixAndWait'],
};

/** Operations without a method of their own. */
const otherWays: Readonly<Record<string, string>> = {
  'messages.create': "[`post('/v1/messages')`](#anthropics-format)",
  'rerank.create':
    "[`post('/v1/rerank')`](#any-other-route), [`rerankingModel()`](frameworks.md#reranking) of the AI SDK",
};

const bodyNames = { none: '–', json: 'JSON', multipart: 'multipart' };
const answerNames = { json: 'JSON', text: 'text', events: 'event stream', binary: 'file' };

export function operationsTable(): string {
  const rows = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => {
    const query = new URLSearchParams({ ...endpoint.query }).toString();
    return [
      otherWays[name] ??
        [name, ...(otherCalls[name] ?? [])].map((call) => `\`${call}()\``).join(', '),
      `\`${endpoint.method} ${endpoint.path}${query === '' ? '' : `?${query}`}\``,
      endpoint.bodies.map((kind) => bodyNames[kind]).join(' or '),
      endpoint.responses.map((kind) => answerNames[kind]).join(' or '),
      endpoint.charge,
    ];
  });
  return toTable(['Call', 'Route', 'Request body', 'Response', 'Charge class'], rows);
}

/** The calls of a route in the table of charge classes. */
const nouns: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  generate: 'generation',
  embeddings: 'embeddings',
  rerank: 'reranking',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'translation',
  images: 'images',
  videos: 'videos',
};

/** Requests that make a text call a charged one, as a list in Markdown. */
export const outputList = (): string => outputRules.map(({ request }) => `- ${request}`).join('\n');

const retried: Readonly<Record<ChargeClass, string>> = {
  free: 'after every temporary failure',
  metered:
    'after 408, 425, 429, 460, 499, 5xx (except 501 and 505) and lost connections, but not after the first byte of the body or a time limit of the client',
  charged:
    "only if the first attempt provably never left (a refused connection, an unknown host) or was rejected before any work (429, including a video provider's; 425, once)",
};

/** The charge classes with the calls of each. */
export function classTable(): string {
  const rows = (['free', 'metered', 'charged'] as const).map((charge) => {
    const own = Object.entries<Endpoint>(endpoints).filter(([, each]) => each.charge === charge);
    const calls = own.map(([name]) => {
      const noun = Object.keys(nouns).find((start) => name.startsWith(`${start}.`)) ?? name;
      return charge === 'free' ? 'reads' : (nouns[noun] ?? name);
    });
    const list = [...new Set(calls)].join(', ');
    const rules = outputRules.map(({ request }) => request).join(', ');
    const all = charge === 'charged' ? `${list}; text with ${rules}` : list;
    return [`**${charge}**`, all, retried[charge]];
  });
  return toTable(['Class', 'Calls', 'Retried'], rows);
}
