import type { RequestOptions } from '../options.ts';
import { ChatCompletionStream, ChatCompletionStreamingRunner } from './stream-helper.ts';
import { ChatFeed } from './feed.ts';
import { ChatCompletionRunner, type RunnerInit } from './runner.ts';
import type { Stream } from '../streams/stream.ts';
import { outputParser } from './output-parser.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import type { ChatCompletionChunk, ChatCompletion } from './types.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './tools.ts';
import { runTools } from './run-tools.ts';

type Params = Omit<ChatCompletionCreateParamsBase, 'stream'>;

/** How a run gets its completions: each is one request. */
export interface ChatCalls {
  whole(params: Params, options: RequestOptions): PromiseLike<ChatCompletion>;
  stream(params: Params, options: RequestOptions): PromiseLike<Stream<ChatCompletionChunk>>;
}

/** Starts a run of one streamed completion. */
export function startStream(
  calls: Pick<ChatCalls, 'stream'>,
  params: Params,
  options?: RequestOptions,
): ChatCompletionStream<unknown> {
  const feed = new ChatFeed(outputParser(params, 'stream'));
  return new ChatCompletionStream({
    messages: params?.messages,
    signal: options?.signal,
    feed,
    work: (result, { controller }) =>
      feed.read(result, controller.signal, () =>
        calls.stream(params, { ...options, signal: controller.signal }),
      ),
  });
}

/** Starts a run of completions and tools. */
export function startToolRun(
  calls: ChatCalls,
  params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
  options?: RunnerOptions,
): ChatCompletionRunner<unknown> {
  const parser = outputParser(params, 'run');
  const init = { messages: params?.messages, signal: options?.signal };
  const isStreamed = params?.stream === true;
  const feed = new ChatFeed(parser);
  const work: RunnerInit<unknown>['work'] = (result, runner) => {
    const { signal } = runner.controller;
    return runTools({
      params,
      options,
      parser,
      result,
      runner,
      complete: isStreamed
        ? (body) => feed.read(result, signal, () => calls.stream(body, { ...options, signal }))
        : async (body) => {
            const completion = await calls.whole(body, { ...options, signal });
            result.emitter.emit('connect');
            const parsed = await parser.apply(completion);
            result.add(parsed);
            const text = parsed.choices[0]?.message.content;
            if (text) result.emitter.emit('content', text, text);
            return parsed;
          },
      onToolResult: (message) => feed.addToolResult(message),
    });
  };
  return isStreamed
    ? new ChatCompletionStreamingRunner({ ...init, feed, work })
    : new ChatCompletionRunner({ ...init, work });
}
