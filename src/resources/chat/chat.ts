import { type PlainChat, PlainCompletions } from './create.ts';
import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
} from './params.ts';
import { parseCompletion, runTools, streamWithEvents } from './run-operations.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { copyOptions, copyParams, peek } from '../../options/snapshot.ts';
import { ChatRun } from './runs/run.ts';
import {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './runs/runner.ts';
import type { AnyResponseFormat, ParsedChatCompletion, ParsedOutput, WithFormat } from './types.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './runs/run-tools.ts';

/** Parameters of `chat.completions.stream()`: those of `create()`; `stream` is always on. */
export type ChatCompletionStreamParams = Omit<ChatCompletionCreateParamsBase, 'stream'> & {
  stream?: true | undefined;
};

/** Chat completions: `POST /v1/chat/completions`. */
export class Completions extends PlainCompletions {
  /**
   * Creates a completion with structured output: calls `create()`, parses the text in the format of
   * `response_format`, validates it, and returns it as `message.parsed`. Arguments of tools created by
   * `tool()` are returned as `parsed_arguments`. Metered like `create()`. If the provider rejects the format,
   * which is free, the schema is sent in the prompt; see the option `structuredOutput`.
   *
   * @param params - `responseFormat()` creates a `response_format` that validates the text. With a plain
   *   `json_schema`, text is parsed but not validated.
   * @throws `InvalidOutputError` if the text is not JSON or does not match, `LengthFinishReasonError` if it
   *   was cut at the token limit, `ContentFilterFinishReasonError` if it was filtered. They contain the
   *   completion, which was paid for.
   * @throws the errors of `create()`
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
   * Streams a completion with events for text, tool calls and more, a growing snapshot, and promises for the
   * final completion, message, text and usage.
   *
   * One request, metered like `create()`. `for await` over the result yields the raw chunks. With a
   * `response_format` of `responseFormat()`, `content.delta` includes the text parsed so far, and the final
   * message is parsed and validated as in `parse()`.
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
   * Runs a conversation with tools: requests a completion, runs the tools that it calls, sends their results,
   * and repeats until a completion calls no tools.
   *
   * Each completion is one request, metered like `create()`; `maxChatCompletions` limits them. Several calls
   * in one completion run in parallel unless `parallel_tool_calls` is `false`. Arguments are validated before
   * a tool receives them. Unknown tools, invalid arguments and errors of tools are sent to the model, which
   * can correct itself; the event `functionToolCallError` reports them.
   *
   * The client, the parameters and the options are read when this method is called. Later changes don't
   * affect the run, except for messages added to `runner.messages`.
   *
   * With a `tool_choice` that names a function, the run ends after that function was called. With
   * `"required"`, every completion calls tools, so only `maxChatCompletions` or `abort()` ends the run.
   *
   * @param params - With `stream: true`, completions are streamed, with the events of `stream()`.
   * @returns A runner with events, the conversation, and promises for the final results. The promises
   *   reject with the errors of `create()` and `parse()`; paid completions stay in `messages`.
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
  /** Streams every completion. */
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
export class Chat implements PlainChat {
  /** Chat completions. */
  readonly completions: Completions;

  /** @internal */
  constructor(transport: () => Transport) {
    this.completions = new Completions(transport);
  }
}
