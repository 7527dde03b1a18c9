/** The guides in the order of a day's work. A test fails if a page is missing. */
export const groups: readonly { readonly text: string; readonly pages: readonly string[] }[] = [
  {
    text: 'Begin',
    pages: [
      'guides/getting-started',
      'guides/what-you-may-be-charged',
      'guides/recipes',
      'guides/from-openai',
      'guides/from-google-genai',
    ],
  },
  {
    text: 'Build',
    pages: [
      'guides/streaming',
      'guides/structured-output',
      'guides/responses',
      'guides/images-and-files',
      'guides/video',
      'guides/operations',
      'guides/frameworks',
      'guides/your-own-server',
      'guides/testing',
    ],
  },
  {
    text: 'Run',
    pages: [
      'guides/in-production',
      'guides/shutting-down',
      'guides/retries-and-charges',
      'guides/costs',
      'guides/rate-limits',
      'guides/many-machines',
      'guides/runtimes',
      'guides/environment-and-files',
      'guides/what-is-stored',
    ],
  },
  {
    text: 'When something is wrong',
    pages: [
      'guides/errors',
      'guides/error-classes',
      'guides/debugging',
      'guides/limits-of-the-promises',
    ],
  },
  {
    text: 'Gateways',
    pages: ['guides/gateways', 'guides/compatibility'],
  },
  {
    text: 'Options',
    pages: [
      'guides/options',
      'guides/options-connection',
      'guides/options-charges',
      'guides/options-time',
      'guides/options-tasks',
      'guides/options-results',
    ],
  },
  {
    text: 'In a terminal',
    pages: ['guides/command-line', 'guides/command-line-options', 'guides/mcp'],
  },
  { text: 'The project', pages: ['VERSIONS', 'SECURITY'] },
  {
    text: 'For contributors',
    pages: ['CONTRIBUTING', 'promises', 'wire', 'bench', 'compatibility-evidence'],
  },
];

/** Pages that were merged into others: their old addresses, and the sections that have their text now. */
export const moved: Readonly<Record<string, string>> = {
  'guides/ai-sdk': 'guides/frameworks#ai-sdk',
  'guides/browser': 'guides/runtimes#browsers',
  'guides/embeddings': 'guides/operations#embeddings',
  'guides/fallbacks': 'guides/rate-limits#fallbacks',
  'guides/gemini': 'guides/operations#gemini-format',
  'guides/playground': 'guides/command-line#playground',
  'guides/speech': 'guides/operations#speech',
  'guides/tools': 'guides/structured-output#tools',
  'guides/tracing': 'guides/debugging#traces-metrics-and-hooks',
  'guides/transcription': 'guides/operations#transcription-and-translation',
  'guides/was-i-charged': 'guides/costs#was-i-charged',
};
