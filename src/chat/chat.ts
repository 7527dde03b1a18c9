import {
  createCompletion,
  parseCompletion,
  runTools,
  streamCompletion,
  streamWithEvents,
} from './operations.ts';
import type {
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from './params.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { rejectCall, startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { copyOptions, copyParams, peek } from '../snapshot.ts';
import { ChatRun } from './run.ts';
import {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './runner.ts';
import type { Stream } from '../streams/stream.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ParsedChatCompletion,
  ParsedOutput,
  WithFormat,
  AnyResponseFormat,
} from './types.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './run-tools.ts';

/** Parameters of `chat.completions.stream()`: those of `create()`; `stream` is always on. */
export type ChatCompletionStreamParams = Omit<ChatCompletionCreateParamsBase, 'stream'> & {
  stream?: true | undefined;
};

/** Chat completions: `POST /v1/chat/completions`. */
export class Completions {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Answers a conversation: `POST /v1/chat/completions`.
   *
   * Metered: it is repeated on 408, 429, 5xx and lost connections before the first byte of the
   * answer; `retryUnknownOutcome: false` limits that to requests that provably never left or were
   * refused before work.
   *
   * @param params - With `stream: true` the answer comes as a stream of chunks. The loop over it
   *   throws `StreamTruncatedError` when the stream ends without a finish reason, and leaving the
   *   loop early closes the connection. `stream.usage` has the token usage; the chunk that brings
   *   nothing else is given out only with `stream_options: { include_usage: true }`.
   * @throws `InvalidInputError` when the model or the messages are empty
   * @throws `APIError` when the gateway refuses or no usable answer comes
   *
   * @example
   * const completion = await client.chat.completions.create({
   *   model: 'gpt-4o-mini',
   *   messages: [{ role: 'user', content: 'Hello!' }],
   * });
   * console.log(completion.choices[0]?.message.content);
   */
  create(
    params: ChatCompletionCreateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion>;
  /** The same, streamed: the loop throws `StreamTruncatedError` when the answer is not whole. */
  create(
    params: ChatCompletionCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ChatCompletionChunk>>;
  /** Whole or streamed, as `stream` says. */
  create(
    params: ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion | Stream<ChatCompletionChunk>>;
  create(
    params: ChatCompletionCreateParams | ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion> | GatewayPromise<Stream<ChatCompletionChunk>> {
    // Without `startCall`, whose frames would push the caller's out of short stack traces.
    try {
      const transport = this.transport();
      if (params?.stream !== true) return createCompletion(transport, params, options);
      return streamCompletion(transport, params, options);
    } catch (cause) {
      return rejectCall(cause, params);
    }
  }

  /**
   * Answers with structured output: asks as `create()` does, parses the text in the form of
   * `response_format`, checks it, and gives it as `message.parsed`. Arguments of tools made by `tool()`
   * are given as `parsed_arguments`. Metered as `create()`.
   *
   * @param params - `responseFormat()` makes a `response_format` that checks the answer. A plain
   *   `json_schema` is parsed and not checked.
   * @throws `InvalidOutputError` when the text is not JSON or does not fit, `LengthFinishReasonError`
   *   when it was cut at the token limit, `ContentFilterFinishReasonError` when it was filtered. They
   *   carry the completion, which was paid for.
   * @throws whatever `create()` throws
   *
   * @example
   * const completion = await client.chat.completions.parse({
   *   model: 'gpt-4o-mini',
   *   messages: [{ role: 'user', content: 'Where is the Eiffel Tower?' }],
   *   response_format: responseFormat(z.object({ city: z.string() }), 'place'),
   * });
   * console.log(completion.choices[0]?.message.parsed?.city);
   */
  parse<Format extends AnyResponseFormat = undefined>(
    params: WithFormat<ChatCompletionCreateParamsNonStreaming, Format>,
    options?: RequestOptions,
  ): GatewayPromise<ParsedChatCompletion<ParsedOutput<Format>>>;
  parse(
    params: ChatCompletionCreateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ParsedChatCompletion<unknown>> {
    return startCall(params, () => parseCompletion(this.transport(), params, options));
  }

  /**
   * Streams an answer with a helper: events for text, tool calls and more, a snapshot that grows, and
   * promises for the final completion, message, text and usage.
   *
   * One request, metered as `create()`. `for await` over the helper gives the raw chunks. With a
   * `response_format` of `responseFormat()`, `content.delta` brings what is parsed so far, and the
   * final message is parsed and checked as by `parse()`.
   *
   * @example
   * const stream = client.chat.completions.stream({ model: 'gpt-4o-mini', messages });
   * stream.on('content', (delta) => process.stdout.write(delta));
   * const completion = await stream.finalChatCompletion();
   */
  stream<Format extends AnyResponseFormat = undefined>(
    params: WithFormat<ChatCompletionStreamParams, Format>,
    options?: RequestOptions,
  ): ChatCompletionStream<ParsedOutput<Format>>;
  stream(
    params: ChatCompletionStreamParams,
    options?: RequestOptions,
  ): ChatCompletionStream<unknown> {
    const transport = this.transport().snapshot();
    const input = copyParams(params);
    const requestOptions = copyOptions(options);
    const { log } = transport.client;
    const run = new ChatRun<unknown>(peek(input, 'messages'), log, peek(requestOptions, 'signal'));
    run.start(() => streamWithEvents(transport, input, requestOptions, run));
    return new ChatCompletionStream(run);
  }

  /**
   * Lets the model call tools: asks for a completion, calls the tools that it asks for, sends their
   * results back, and so on until an answer calls none.
   *
   * Each completion is one request, metered as `create()`; `maxChatCompletions` bounds them. Several
   * calls in one answer run in parallel unless `parallel_tool_calls` is `false`. Arguments are checked
   * before a tool gets them. An unknown tool, arguments that do not fit, and errors of tools are told to
   * the model, which can correct itself; listen to `functionToolCallError` to learn of them.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * reach the requests that follow, except for what is added to `runner.messages`.
   *
   * With a `tool_choice` that names a function, the run ends when that function was called. With
   * `"required"` every answer calls tools, so only `maxChatCompletions` or `abort()` ends it.
   *
   * @param params - With `stream: true` the answers are streamed, with the events of `stream()`.
   * @returns A runner with events, the conversation, and promises for what it ends in. Its promises
   *   reject with what `create()` and `parse()` throw; what was paid for stays in `messages`.
   *
   * @example
   * const runner = client.chat.completions.runTools({
   *   model: 'gpt-4o-mini',
   *   messages: [{ role: 'user', content: 'What is the weather in Lisbon?' }],
   *   tools: [tool({ name: 'get_weather', schema, execute: ({ city }) => lookUp(city) })],
   * });
   * console.log(await runner.finalContent());
   */
  runTools<Format extends AnyResponseFormat = undefined>(
    params: WithFormat<ChatCompletionToolRunnerParams, Format>,
    options?: RunnerOptions,
  ): ChatCompletionRunner<ParsedOutput<Format>>;
  /** The same, with every answer streamed. */
  runTools<Format extends AnyResponseFormat = undefined>(
    params: WithFormat<ChatCompletionStreamingToolRunnerParams, Format>,
    options?: RunnerOptions,
  ): ChatCompletionStreamingRunner<ParsedOutput<Format>>;
  runTools(
    params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
    options?: RunnerOptions,
  ): ChatCompletionRunner<unknown> {
    const transport = this.transport().snapshot();
    const input = copyParams(params);
    const runnerOptions = copyOptions(options);
    const { log } = transport.client;
    const run = new ChatRun<unknown>(peek(input, 'messages'), log, peek(runnerOptions, 'signal'));
    const isStreamed = peek(input, 'stream') === true;
    const runner = new (isStreamed ? ChatCompletionStreamingRunner : ChatCompletionRunner)(run);
    run.start(() => runTools(transport, input, runnerOptions, run, runner));
    return runner;
  }
}

/** Chat in OpenAI's format. */
export class Chat {
  /** Answers to conversations. */
  readonly completions: Completions;

  /** @internal */
  constructor(transport: () => Transport) {
    this.completions = new Completions(transport);
  }
}
