import { isObject, parseJSON, toFields } from '../../../../answers/objects.ts';
import {
  APIError,
  BadRequestError,
  type ChatCompletion,
  type ChatCompletionMessageInput,
  type ChatCompletionTool,
} from '../../../../index.ts';
import { type CallContext, CallFailure, collect, must } from './call.ts';
import { type Exchange, parseBody } from './exchanges.ts';
import { chatFacts } from './facts.ts';
import { createPicture, prompts, toDataURL } from './samples.ts';

const ask = (content: string): ChatCompletionMessageInput[] => [{ role: 'user', content }];

/** The parameter that limits the output of a model. */
type Limit = Partial<Record<'max_tokens' | 'max_completion_tokens', number>>;

/**
 * Makes a chat request with a limit for its output.
 *
 * Models differ in the name of the limit. A request with the wrong one is rejected before any work.
 */
async function withLimit<T>(
  { shared: { newLimits }, model }: CallContext,
  tokens: number,
  request: (limit: Limit) => PromiseLike<T>,
): Promise<T> {
  if (newLimits.has(model)) return request({ max_completion_tokens: tokens });
  try {
    return await request({ max_tokens: tokens });
  } catch (error) {
    const isName = BadRequestError.isInstance(error) && /max_completion_tokens/.test(error.message);
    if (!isName) throw error;
    newLimits.add(model);
    return request({ max_completion_tokens: tokens });
  }
}

async function chat(
  context: CallContext,
  messages: readonly ChatCompletionMessageInput[],
  tokens: number,
  params: object = {},
): Promise<ChatCompletion> {
  const { client, model } = context;
  const completion = await withLimit(context, tokens, (limit) =>
    client.chat.completions.create({ model, messages: [...messages], ...limit, ...params }),
  );
  must(completion.choices.length > 0, 'the response has no choice');
  return completion;
}

export const askForWord = (context: CallContext): Promise<unknown> =>
  chat(context, ask(prompts.word), 16);

/** Streams a response that is long enough to show whether it is buffered. */
export async function streamChat(context: CallContext): Promise<void> {
  const { client, model } = context;
  const stream = await withLimit(context, 120, (limit) =>
    client.chat.completions.create({
      model,
      messages: ask(prompts.count),
      stream: true,
      stream_options: { include_usage: true },
      ...limit,
    }),
  );
  await collect(stream);
}

const functionTool = (name: string): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    description: `Returns the ${name.replace('get_', '')} in a city.`,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
});

const tools = [functionTool('get_weather'), functionTool('get_time')];

/** Lets the model call tools in a stream, and sends it their results. */
export async function useTools(context: CallContext): Promise<void> {
  const { client, model } = context;
  const messages = ask(prompts.tools);
  const first = await withLimit(context, 100, (limit) =>
    client.chat.completions.stream({ model, messages, tools, ...limit }).finalChatCompletion(),
  );
  const message = first.choices[0]?.message;
  const calls = message?.tool_calls?.filter((call) => call.type === 'function') ?? [];
  must(message !== undefined && calls.length > 0, 'the model called no tool');
  const hasArguments = calls.every((call) => isObject(parseJSON(call.function.arguments)));
  must(hasArguments, 'the arguments of a tool are not JSON');
  const results = calls.map(({ id }): ChatCompletionMessageInput => ({
    role: 'tool',
    tool_call_id: id,
    content: '{"value":"18"}',
  }));
  await chat(context, [...messages, message, ...results], 32, { tools });
}

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, country: { type: 'string' } },
  required: ['city', 'country'],
  additionalProperties: false,
} as const;

/** Requests JSON with a schema, and in no other mode. */
export async function askBySchema(context: CallContext): Promise<void> {
  const { client, model } = context;
  const json_schema = { name: 'place', strict: true, schema };
  const completion = await withLimit(context, 64, (limit) =>
    client.chat.completions.parse(
      {
        model,
        messages: ask(prompts.schema),
        response_format: { type: 'json_schema', json_schema },
        ...limit,
      },
      { structuredOutput: 'json_schema' },
    ),
  );
  must(isObject(completion.choices[0]?.message.parsed), 'the content is not a JSON object');
}

export async function askForObject(context: CallContext): Promise<void> {
  const response_format = { type: 'json_object' };
  const completion = await chat(context, ask(prompts.schema), 64, { response_format });
  const text = completion.choices[0]?.message.content ?? '';
  must(isObject(parseJSON(text)), 'the content is not a JSON object');
}

/** Returns whether a response shows that the model has reasoned. */
function showsReasoning(answer: Exchange): boolean {
  const { completion_tokens_details: details } = toFields(parseBody(answer)['usage']);
  const count = toFields(details)['reasoning_tokens'];
  const isShown = chatFacts(answer).some((fact) => fact.startsWith('reasoning'));
  return isShown || (typeof count === 'number' && count > 0);
}

export async function reason(context: CallContext): Promise<void> {
  await chat(context, ask(prompts.think), 400);
  const answer = context.exchanges.findLast(({ status }) => status < 300);
  const isShown = answer !== undefined && showsReasoning(answer);
  must(isShown, 'neither reasoning nor a count of its tokens', true);
}

export async function askWithCache(context: CallContext): Promise<void> {
  const cache_control = { type: 'ephemeral' } as const;
  const content = [{ type: 'text', text: prompts.word, cache_control } as const];
  await chat(context, [{ role: 'user', content }], 16);
}

export async function askAboutPicture(context: CallContext): Promise<void> {
  const url = await toDataURL(await createPicture());
  const text = { type: 'text', text: prompts.picture } as const;
  const content = [text, { type: 'image_url', image_url: { url } } as const];
  await chat(context, [{ role: 'user', content }], 16);
}

/** Sends a chat without messages, which a gateway rejects. */
export async function sendInvalidChat({ client, model }: CallContext): Promise<void> {
  const sent = client.post('/v1/chat/completions', { body: { model } });
  const error: unknown = await sent.then(
    () => new CallFailure('a request without messages is accepted'),
    (failure: unknown) => failure,
  );
  if (!APIError.isInstance(error) || (error.status ?? 0) < 400) throw error;
}

/** Requests a word from `/v1/responses`. Reasoning may take all tokens, so the text may be empty. */
export async function respond({ client, model }: CallContext): Promise<void> {
  const params = { model, input: prompts.word, max_output_tokens: 16 };
  const { output, status } = await client.responses.create(params);
  must(output.length > 0 || status === 'incomplete', 'the response has no items');
}

export async function streamResponse({ client, model }: CallContext): Promise<void> {
  const params = { model, input: prompts.count, max_output_tokens: 120, stream: true } as const;
  const events = await collect(await client.responses.create(params));
  must(events.length > 0, 'the stream is empty');
}

export async function generate({ client, model }: CallContext): Promise<void> {
  const generationConfig = { maxOutputTokens: 16 };
  const params = { model, contents: prompts.word, generationConfig };
  const { candidates } = await client.generate.content(params);
  must((candidates?.length ?? 0) > 0, 'the response has no candidate');
}

export async function streamGeneration({ client, model }: CallContext): Promise<void> {
  const generationConfig = { maxOutputTokens: 64 };
  const params = { model, contents: prompts.count, generationConfig };
  const chunks = await collect(await client.generate.contentStream(params));
  must(chunks.length > 0, 'the stream is empty');
}

export const embeddingInputs = [prompts.firstText, prompts.secondText] as const;

/** Requests the vectors of two inputs. */
export async function embed(
  { client, model }: CallContext,
  method: 'create' | 'createForEngine',
  encoding: 'float' | 'base64',
  input: readonly string[] | readonly (readonly number[])[] = embeddingInputs,
): Promise<void> {
  const params = { model, input, encoding_format: encoding };
  const { data } = await client.embeddings[method](params);
  must(data.length === embeddingInputs.length, 'not one vector for each input');
  const isFilled = data.every(({ embedding }) => embedding.length > 0);
  must(isFilled, 'a vector is empty');
}
