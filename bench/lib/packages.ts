/** The columns of the table, in their order. */
export const columns = [
  'model-gateway',
  'floor',
  'ky',
  'openai',
  'groq-sdk',
  '@anthropic-ai/sdk',
  '@google/genai',
  'ai',
  '@fal-ai/client',
  '@runwayml/sdk',
] as const;

/**
 * The measured clients. `floor` is a minimal implementation by hand, which each part describes; `ai` is
 * always used with `@ai-sdk/openai-compatible`.
 */
export type Column = (typeof columns)[number];

/** The packages of each client. The floor has the dependencies of this client. */
export const specifiers: Readonly<Record<Column, readonly string[]>> = {
  'model-gateway': ['../dist/index.js'],
  floor: ['ky', 'eventsource-parser'],
  ky: ['ky'],
  openai: ['openai'],
  'groq-sdk': ['groq-sdk'],
  '@anthropic-ai/sdk': ['@anthropic-ai/sdk'],
  '@google/genai': ['@google/genai'],
  ai: ['ai', '@ai-sdk/openai-compatible'],
  '@fal-ai/client': ['@fal-ai/client'],
  '@runwayml/sdk': ['@runwayml/sdk'],
};

/** Packages whose versions the results name. */
export const packages = [
  ...columns.filter((column) => column !== 'floor' && column !== 'ky'),
  '@ai-sdk/openai-compatible',
];
