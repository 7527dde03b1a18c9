import { describe, expect, test } from 'vitest';
import { defaultModels, type AnswerFault, type Fault } from '../../src/testing/index.ts';
import { bookSetups } from '../helpers/contract-usage-log.ts';
import { videoSetups } from '../helpers/contract-videos.ts';
import { readRecordings, replay, type Recording, type Setup } from '../helpers/contract.ts';

// Replays the requests in fixtures/gateway, recorded on a gateway with simulated vendors behind it, and
// compares status, content type, headers and the shape of the body with the recorded answer.

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

const getSetup = ({ name }: Recording): Setup =>
  setups.find(([names]) => names.test(name))?.[1] ?? {};

/** Differences that are allowed, in the recordings with these names. */
interface AllowedDifference {
  readonly why: string;
  readonly names: readonly string[];
  readonly differences: RegExp;
}

const allowed: readonly AllowedDifference[] = [
  {
    why: 'Browsers need not accept a star for `authorization`, and tests see every preflight.',
    names: ['preflight'],
    differences: /^header access-control-(allow-headers|max-age)/,
  },
  {
    why: 'Bodies of vendors inside the record of a task all have the form of Kling.',
    names: [
      'gateway behind the gateway, chain-kling, vendor route',
      'gateway behind the gateway, chain-sora, [[fail]], vendor route',
      'gateway behind the gateway, chain-sora, [[poll500]], vendor route',
      "vendor's 429 to the gateway's poll, ali, vendor route",
      "vendor's 429 to the gateway's poll, doubao, vendor route",
      "vendor's 429 to the gateway's poll, hailuo, vendor route",
      "vendor's 429 to the gateway's poll, jimeng, vendor route",
      "vendor's 429 to the gateway's poll, vidu, vendor route",
      'whole life, failed, ali, vendor route',
      'whole life, jimeng, vendor route',
    ],
    differences: /^body data\.data/,
  },
  {
    why: 'A vendor has one error code for each kind of failure.',
    names: [
      "vendor's 429 to the gateway's poll, ali, poll 9",
      "vendor's 429 to the gateway's poll, hailuo, poll 6",
      "vendor's 429 to the gateway's poll, jimeng, poll 5",
    ],
    differences: /^body error\.code/,
  },
  {
    why: 'An error inside a 200 or a stream has one form on each route, whichever vendor sent it.',
    names: [
      'chat on a Claude channel, error inside a 200',
      'chat on a Claude channel, error without a type inside a 200',
      'generate on an OpenAI channel, error inside a 200',
      'generate on an OpenAI channel, error without a type inside a 200',
      'stream, error without a type inside, usage asked',
    ],
    differences: /^(status|type|body|event \d error)/,
  },
  {
    why: 'An empty answer keeps the fields of a full one.',
    names: ['chat, no choices in the answer', 'speech, empty 200', 'speech, cut JSON with 200'],
    differences: /^type|there, text here$/,
  },
  {
    why: 'A page with status 200 is the page of the console.',
    names: ['speech, HTML page with 200', 'translation, HTML page with 200'],
    differences: /^header cache-control/,
  },
  {
    why: 'A refused submission lists no price ratios: nothing is charged for it.',
    names: [
      'submission refused, ali, submitcode200',
      'submission refused, hailuo, submitcode',
      'submission refused, hailuo, submitrate',
      'submission refused, kling, submitcode',
      'submission refused, sora, submitempty',
      'submission refused, sora, submitjunk',
      'submission refused, vidu, submitcode',
    ],
    differences: /^header x-new-api-other-ratios/,
  },
  {
    why: 'Every answer has a request id, so that a test finds its request.',
    names: ['usage of the key, redirect'],
    differences: /^header x-(oneapi-request-id|new-api-version)/,
  },
  {
    why: 'The emulator converts and fetches nothing for a vendor, so no conversion fails.',
    names: [
      'chat it cannot convert, broken data address on a Gemini channel',
      'chat it cannot convert, picture on a Claude channel',
      'chat it cannot convert, picture on a Gemini channel',
      'chat it cannot convert, thinkingConfig in extra_body',
    ],
    differences: /^(status|body)/,
  },
  {
    why: 'Operators decide which models serve which routes; in the emulator every model serves all.',
    names: [
      'image it cannot convert, DeepSeek channel',
      'image it cannot convert, chat model of a Gemini channel',
    ],
    differences: /^(status|body)/,
  },
];

const recordings = readRecordings();
const differences = new Map<Recording, readonly string[]>();
for (const recording of [...recordings.values()].flat()) {
  differences.set(recording, await replay(recording, getSetup(recording)));
}

const isAllowed = ({ name }: Recording, difference: string): boolean =>
  allowed.some((entry) => entry.names.includes(name) && entry.differences.test(difference));

describe.each([...recordings])('%s', (_, inFile) => {
  test.each(inFile.map((recording) => [recording.name, recording] as const))(
    '%s',
    (_name, recording) => {
      const found = differences.get(recording) ?? [];
      const unexpected = found.filter((difference) => !isAllowed(recording, difference));
      expect(unexpected.join('\n')).toBe('');
    },
  );
});

test('every allowed difference still occurs', () => {
  const differing = [...differences].flatMap(([{ name }, found]) => (found.length > 0 ? name : []));
  expect(allowed.flatMap(({ names }) => names).toSorted()).toEqual(differing.toSorted());
});

test('of 145 common formats at most five differ', () => {
  const common = [...differences].filter(([recording]) => recording.common === true);
  expect(common).toHaveLength(145);
  const differing = common.flatMap(([{ name }, found]) => (found.length > 0 ? name : []));
  expect(differing).toEqual(['preflight']);
});
