import { describe, expect, test } from 'vitest';
import { getSetup } from '../helpers/contract-setups.ts';
import { readRecordings, replay, type Recording } from '../helpers/contract.ts';

// Replays the requests in fixtures/gateway, recorded on a gateway with simulated vendors behind it, and
// compares status, content type, headers and the shape of the body with the recorded answer.

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

/**
 * Differences of the edition of 2026 from the recorded gateway, which is a build of 2025, besides those of the
 * first edition.
 */
const newer: readonly AllowedDifference[] = [
  {
    why: 'Its own validation answers 500.',
    names: [
      'chat, max_tokens as text',
      'chat, no messages',
      'chat, wrong type',
      'embeddings, no input',
      'engine embeddings',
      'generate, contents object',
      'generate, no contents',
      'generate, safety object',
      'image, n as text',
      'speech, no model',
      'speech, voice object',
      'translation, no model',
    ],
    differences: /^status: 400 there, 500 here$/,
  },
  {
    why: "The usage of converted channels has the vendor's own counts.",
    names: [
      'chat on a Claude channel',
      'chat on a Gemini channel',
      'chat on a Gemini channel, answer blocked',
      'generate on an OpenAI channel',
      'generate stream on an OpenAI channel',
      'generate stream on an OpenAI channel, cut upstream, raw',
      'generate stream on an OpenAI channel, ends early, raw',
      'generate stream on an OpenAI channel, error inside, raw',
      'stream of claude-sonnet-4-20250514, cut upstream, usage asked',
      'stream of claude-sonnet-4-20250514, ends early, usage asked',
      'stream on a Claude channel',
      'stream on a Gemini channel',
      'stream on a Gemini channel, answer blocked',
      'stream on a Gemini channel, answer blocked, usage asked',
      'stream on a Gemini channel, cut upstream',
      'stream on a Gemini channel, cut upstream, usage asked',
      'stream on a Gemini channel, ends early',
      'stream on a Gemini channel, ends early, usage asked',
      'stream on a Gemini channel, error inside',
      'stream on a Gemini channel, error inside, usage asked',
      'stream on a Gemini channel, prompt blocked',
      'stream on a Gemini channel, prompt blocked, usage asked',
    ],
    differences: /\.billing_usage/,
  },
  {
    why: 'It streams images.',
    names: ['image, stream'],
    differences: /^(type|body|header (cache-control|x-accel-buffering))/,
  },
  {
    why: 'Its list of models names their routes.',
    names: ['models'],
    differences: /^body data\[\]\.supported_endpoint_types/,
  },
  {
    why: "Sora's channel accepts a number.",
    names: ['video, seconds as a number'],
    differences: /^(status|body|header x-new-api-other-ratios)/,
  },
  {
    why: 'The content of a video needs a key.',
    names: ['content, bad key', 'content, no key', 'video content, no key'],
    differences: /^(status|type|body|header cache-control)/,
  },
];

const recordings = readRecordings();
const differences = new Map<Recording, readonly string[]>();
const differencesOf2026 = new Map<Recording, readonly string[]>();
for (const recording of [...recordings.values()].flat()) {
  const setup = getSetup(recording);
  differences.set(recording, await replay(recording, setup));
  const newest = { ...setup, options: { ...setup.options, edition: '2026' as const } };
  differencesOf2026.set(recording, await replay(recording, newest));
}

const isAllowed = (
  { name }: Recording,
  difference: string,
  entries: readonly AllowedDifference[] = allowed,
): boolean =>
  entries.some((entry) => entry.names.includes(name) && entry.differences.test(difference));

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

test('of 145 common formats one differs, that of preflight responses', () => {
  const common = [...differences].filter(([recording]) => recording.common === true);
  expect(common).toHaveLength(145);
  const differing = common.flatMap(([{ name }, found]) => (found.length > 0 ? name : []));
  expect(differing).toEqual(['preflight']);
});

describe('the edition of 2026', () => {
  test('the edition of 2026 differs from the recorded gateway as listed', () => {
    const unexpected = [...differencesOf2026].flatMap(([recording, found]) =>
      found
        .filter((difference) => !isAllowed(recording, difference, [...allowed, ...newer]))
        .map((difference) => `${recording.name}: ${difference}`),
    );

    expect(unexpected).toEqual([]);
  });

  test.each(newer)('$why', ({ names, differences: listed }) => {
    const differing = [...differencesOf2026].flatMap(([recording, found]) =>
      found.some((difference) => listed.test(difference) && !isAllowed(recording, difference))
        ? recording.name
        : [],
    );

    expect(differing).toEqual(expect.arrayContaining([...names]));
  });
});
