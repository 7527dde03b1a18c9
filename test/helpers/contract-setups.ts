import { defaultModels, type AnswerFault, type Fault } from '../../src/testing/index.ts';
import { bookSetups } from './contract-usage-log.ts';
import { videoSetups } from './contract-videos.ts';
import type { Recording, Setup } from './contract.ts';

const failing = (fault: Fault): Setup => ({
  prepare: (emulator) => void emulator.fail({ fault }),
});

/** The vendor answers with an error, which the gateway passes on. */
const vendorError = (
  status: number,
  errorType: string,
  code: string | number | null,
  more: Partial<AnswerFault & { type: 'error' }> = {},
): Setup => failing({ type: 'error', status, errorType, code, ...more });

/**
 * The state in which answers were recorded, by the names of the recordings: what was known of the
 * account, and what the vendor did. The first that fits holds.
 */
const setups: readonly (readonly [names: RegExp, setup: Setup])[] = [
  [/no credit/, { options: { credit: 0 } }],
  [/unknown model/, { options: { models: defaultModels } }],
  ...bookSetups,
  ...videoSetups,
  [/the gateway's own limit/, failing({ type: 'bare', status: 429 })],
  // The vendor refuses or fails.
  [/502/, failing({ type: 'vendor-refusal', status: 502, body: 'html' })],
  ...[401, 429, 500].map(
    (status) =>
      [
        new RegExp(`(upstream|vendor's) ${status}`),
        failing({ type: 'vendor-refusal', status }),
      ] as const,
  ),
  [/hangs up|dead channel/, vendorError(500, 'new_api_error', 'do_request_failed')],
  [/content filter/, vendorError(400, 'upstream_error', 'content_filter', { param: 'prompt' })],
  [/moderation/, vendorError(400, 'image_generation_user_error', 'moderation_blocked')],
  // The vendor answers 200 without a result.
  [
    /^chat on a Gemini channel, error .*inside a 200/,
    vendorError(500, 'empty_response', 'empty_response'),
  ],
  [/^chat on a Claude channel, error inside/, vendorError(500, 'provider_error', 'provider_error')],
  [/^image imagen, error/, vendorError(500, 'bad_response_body', 'bad_response_body')],
  [/^(generate )?stream, .*200|^(speech|translation), (empty 200|cut)/, failing({ type: 'empty' })],
  [/^(speech|translation), HTML page/, failing({ type: 'html', status: 200 })],
  [
    /on a Claude channel, (empty 200|HTML page|cut JSON)/,
    vendorError(500, 'new_api_error', 'bad_response_body'),
  ],
  [/empty 200|HTML page|cut JSON/, vendorError(500, 'bad_response_body', 'bad_response_body')],
  [/error without a type inside a 200/, failing({ type: 'error-in-200', typed: false })],
  [/200 with error|error inside a 200/, failing({ type: 'error-in-200' })],
  [/no (stream|pictures|sound|choices)/, failing({ type: 'empty' })],
  // The vendor's stream breaks: of Claude's and of a converted one the gateway says nothing.
  [
    /(claude|generate stream on an OpenAI).*error inside/,
    failing({ type: 'no-finish', after: 3, done: false }),
  ],
  [
    /^stream on a Gemini channel, error inside/,
    failing({ type: 'stream-error', after: 3, shape: 'no-choices' }),
  ],
  [/stream.*error .*inside/, failing({ type: 'stream-error', after: 3, shape: 'error-data' })],
  // Claude's had said everything.
  [/claude.*ends early/, {}],
  [/cut upstream|ends early/, failing({ type: 'no-finish', after: 3, done: true })],
];

/** Returns the state in which a response was recorded. */
export const getSetup = ({ name }: Recording): Setup =>
  setups.find(([names]) => names.test(name))?.[1] ?? {};
