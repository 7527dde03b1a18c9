// OpenRouter hides the provider's error in `error.metadata.raw`.
import { describe, expect, test } from 'vitest';
import { readErrorText } from '../../src/answers/failure.ts';
import { responseFormat } from '../../src/index.ts';
import { bodyOf, failureOf, json, scripted } from '../helpers/clients.ts';

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const reason = 'This model does not support response_format json_schema';

const withRaw = (raw: unknown, code = 400) => ({
  error: { message: 'Provider returned error', code, metadata: { raw, provider_name: 'Acme' } },
});

const error = { message: reason, type: 'invalid_request_error', param: 'p', code: 'unsupported' };
const raws: Readonly<Record<string, unknown>> = {
  text: reason,
  JSON: JSON.stringify({ error }),
  'an object': { error },
  'a list': [{ error }],
  'a list of texts': [reason],
  'the error of another gateway': JSON.stringify(withRaw(JSON.stringify({ error }))),
};

describe.each(Object.entries(raws))("the provider's error as %s", (_, raw) => {
  test("the provider's error is in the message, with its code and field", () => {
    const found = readErrorText(JSON.stringify(withRaw(raw)));

    expect(found.message).toContain(`Provider returned error: ${reason}`);
    if (JSON.stringify(raw).includes('unsupported')) {
      expect(found).toMatchObject({ code: 'unsupported', param: 'p' });
    }
  });

  test("the provider's error is in the message of an answer whose choice has it", async () => {
    const choice = { index: 0, message: { content: '' }, finish_reason: 'error', ...withRaw(raw) };
    const { client } = scripted([json({ id: 'c', choices: [choice] })], { maxRetries: 0 });

    expect(String(await failureOf(client.chat.completions.create(params)))).toContain(reason);
  });

  test('lets the next mode of structured output be used', async () => {
    const { client, requests } = scripted([
      json(withRaw(raw), 400),
      json({
        id: 'c',
        choices: [{ index: 0, message: { content: '{"a":1}' }, finish_reason: 'stop' }],
      }),
    ]);

    const completion = await client.chat.completions.parse({
      ...params,
      response_format: responseFormat({ type: 'object', properties: { a: { type: 'number' } } }),
    });

    expect(completion.choices[0]?.message.parsed).toEqual({ a: 1 });
    expect(requests).toHaveLength(2);
    expect(await bodyOf(requests[1])).toMatchObject({ response_format: { type: 'json_object' } });
  });
});

test.each([null, '', {}, [], 0])('without a reason (%j), the message is unchanged', async (raw) => {
  const { client } = scripted([json(withRaw(raw), 400)]);

  const failure = await failureOf(client.chat.completions.create(params));

  expect(Object(failure).error).toMatchObject({ message: 'Provider returned error' });
  expect(failure).toMatchObject({ code: 400 });
});
