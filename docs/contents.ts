/** The guides in reading order. A test fails if a page is missing. */
export const groups: readonly { readonly text: string; readonly pages: readonly string[] }[] = [
  {
    text: 'First steps',
    pages: [
      'guides/getting-started',
      'guides/from-openai',
      'guides/from-google-genai',
      'guides/streaming',
      'guides/errors',
      'guides/gateways',
      'guides/compatibility',
      'guides/options',
      'guides/operations',
    ],
  },
  {
    text: 'Text',
    pages: ['guides/structured-output', 'guides/responses', 'guides/frameworks'],
  },
  {
    text: 'Media',
    pages: ['guides/images-and-files', 'guides/video', 'guides/many-machines'],
  },
  {
    text: 'Money and limits',
    pages: ['guides/retries-and-charges', 'guides/costs', 'guides/rate-limits'],
  },
  {
    text: 'In an app',
    pages: [
      'guides/in-production',
      'guides/runtimes',
      'guides/your-own-server',
      'guides/testing',
      'guides/debugging',
    ],
  },
  { text: 'In a terminal', pages: ['guides/command-line', 'guides/mcp'] },
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
