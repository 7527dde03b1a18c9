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
    pages: [
      'guides/structured-output',
      'guides/tools',
      'guides/responses',
      'guides/gemini',
      'guides/embeddings',
    ],
  },
  {
    text: 'Media',
    pages: [
      'guides/images-and-files',
      'guides/speech',
      'guides/transcription',
      'guides/video',
      'guides/many-machines',
    ],
  },
  {
    text: 'Money',
    pages: [
      'guides/retries-and-charges',
      'guides/fallbacks',
      'guides/was-i-charged',
      'guides/costs',
    ],
  },
  {
    text: 'In an app',
    pages: [
      'guides/rate-limits',
      'guides/browser',
      'guides/your-own-server',
      'guides/testing',
      'guides/debugging',
      'guides/tracing',
      'guides/ai-sdk',
      'guides/runtimes',
    ],
  },
  { text: 'In a terminal', pages: ['guides/command-line', 'guides/playground', 'guides/mcp'] },
  {
    text: 'The project',
    pages: ['bench', 'VERSIONS', 'SECURITY', 'CONTRIBUTING', 'promises', 'wire'],
  },
];
