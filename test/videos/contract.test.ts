import { describe, expect, test } from 'vitest';
import { defaultModels, type AnswerFault, type Fault } from '../../src/testing/index.ts';
import { bookSetups } from '../helpers/contract-books.ts';
import { videoSetups } from '../helpers/contract-videos.ts';
import { readRecordings, replay, type Recording, type Setup } from '../helpers/contract.ts';

// What a gateway of this family answered, with simulated vendors behind it, is in fixtures/gateway.
// Each request is sent to the emulator, whose answer must look the same.

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
  [/^chat, upstream 429/, vendorError(429, 'requests', 'rate_limit_exceeded')],
  [
    /^stream, upstream 429/,
    vendorError(429, 'requests', 'rate_limit_exceeded', { contentType: 'text/event-stream' }),
  ],
  [/^generate, upstream 429/, vendorError(429, 'upstream_error', 429)],
  [/^chat, upstream 500/, vendorError(500, 'server_error', null)],
  [/502/, vendorError(502, 'bad_response_status_code', 'bad_response_status_code')],
  [/hangs up|dead channel/, vendorError(500, 'new_api_error', 'do_request_failed')],
  [/^(chat|image).*vendor's 429/, vendorError(429, 'requests', 'rate_limit_exceeded')],
  [/^(chat|image).*vendor's 500/, vendorError(500, 'server_error', null)],
  [/vendor's 401/, vendorError(401, 'invalid_request_error', 'invalid_api_key')],
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

const setupOf = ({ name }: Recording): Setup =>
  setups.find(([names]) => names.test(name))?.[1] ?? {};

interface KeptDifference {
  readonly why: string;
  readonly covers: (recording: Recording, difference: string) => boolean;
}

/** What differs on purpose. */
const kept: readonly KeptDifference[] = [
  {
    why: 'Simulated vendors were behind the recorded gateway: what they said is quoted as one vendor says it.',
    covers: ({ name }, difference) =>
      (/ali|vidu|hailuo|jimeng|doubao|chain/.test(name) &&
        difference.startsWith('body data.data')) ||
      (/poll, (ali|hailuo|jimeng), poll/.test(name) && difference.startsWith('body error.code')) ||
      (name.startsWith('stream, error without a type inside, ') &&
        /^event \d error/.test(difference)) ||
      (name.startsWith('chat, no choices') && difference.includes('there, text here')) ||
      (/^speech, (empty|cut JSON)/.test(name) && difference.startsWith('type')) ||
      name === 'translation vtt',
  },
  {
    why: 'An error inside a 200 has one form on each route, whichever vendor was asked.',
    covers: ({ name }) =>
      /^(chat on a Claude|generate on an OpenAI) channel, error .*200$/.test(name),
  },
  {
    why: 'Nothing is fetched or converted for a vendor, so a request that cannot be is answered.',
    covers: ({ name }) => name.startsWith('chat it cannot convert'),
  },
  {
    why: 'Which models serve which routes is set by the operator; here every model serves each.',
    covers: ({ name }) => name.startsWith('image it cannot convert'),
  },
];

const recordings = readRecordings();
const differences = new Map<Recording, readonly string[]>();
for (const recording of [...recordings.values()].flat()) {
  differences.set(recording, await replay(recording, setupOf(recording)));
}
const isKept = (recording: Recording, difference: string): boolean =>
  kept.some(({ covers }) => covers(recording, difference));

describe.each([...recordings])('%s', (_, inFile) => {
  test.each(inFile.map((recording) => [recording.name, recording] as const))(
    '%s',
    (_name, recording) => {
      const found = differences.get(recording) ?? [];
      const unexpected = found.filter((difference) => !isKept(recording, difference));
      expect(unexpected.join('\n')).toBe('');
    },
  );
});

test('at most four kinds of difference are kept, and each of them still occurs', () => {
  const occurring = kept.filter(({ covers }) =>
    [...differences].some(([recording, found]) =>
      found.some((difference) => covers(recording, difference)),
    ),
  );
  expect(occurring).toEqual(kept);
  expect(kept.length).toBeLessThanOrEqual(4);
});
