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
 * Who is measured. `floor` is the least that can do the job by hand, which each part says in its
 * own words; `ai` is always used with `@ai-sdk/openai-compatible`.
 */
export type Column = (typeof columns)[number];

/** Those that gates compare with; a gate run measures nobody else. */
export const gateColumns: readonly Column[] = ['model-gateway', 'floor', 'openai', 'groq-sdk'];

/** Packages whose versions the results name. */
export const packages = [
  ...columns.filter((column) => column !== 'floor' && column !== 'ky'),
  '@ai-sdk/openai-compatible',
];
