import type { OpenChoice } from './accumulator.ts';
import type { ChatCompletionFunctionCall, ChatCompletionToolMessageParam } from './params.ts';
import type { ChatRun, Chunks, RunResult } from './run.ts';
import type { OpenCall } from './tool-calls.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionSnapshot,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';

/**
 * What the `object` of a chunk begins with that is none: the result of a tool, as JSON, in the lines of
 * a run. The `openai` package writes and reads the same.
 */
const messagePrefix = 'chat.completion.chunk.message:';

function toolMessageIn({
  object,
}: ChatCompletionChunk): ChatCompletionToolMessageParam | undefined {
  if (!object.startsWith(messagePrefix)) return undefined;
  const sent: { message: ChatCompletionToolMessageParam } = JSON.parse(
    object.slice(messagePrefix.length),
  );
  return sent.message;
}

/** Parses the answers of a run. */
export interface CompletionParser<Parsed> {
  /** What parses the arguments of a tool, or the text; `undefined` when they are not parsed. */
  of(tool?: string): ((text: string) => Promise<Parsed>) | undefined;
  /**
   * What the beginning of a text, or of the arguments of a tool, says so far; `null` when it is not parsed.
   *
   * @param key - The same object for each beginning of one text.
   */
  beginning(key: object, text: string, tool?: string): unknown;
  /** Whether an answer that ends for this reason is an error instead of being parsed. */
  rejects(reason: string): boolean;
  /**
   * Adds to a completion what its texts and tool calls are parsed as.
   *
   * @throws `OutputError` with the completion when that is not possible
   */
  apply(completion: ChatCompletion): Promise<ParsedChatCompletion<Parsed>>;
}

/**
 * What a run does: it reads completions, emits events for what each chunk adds, and keeps the conversation.
 *
 * It imports nothing, and takes from the run what every page has: a bundler puts what a page shares with
 * a part that comes later into files of their own, which compress worse than one.
 */
export class ChatEngine<Parsed> implements RunResult<Parsed> {
  readonly #run: ChatRun<Parsed>;
  readonly #parser: CompletionParser<Parsed> | undefined;
  #lastChunk: ChatCompletionChunk | undefined;
  toolResult: string | undefined;

  /** @param parser - Left out when nothing is parsed. */
  constructor(run: ChatRun<Parsed>, parser?: CompletionParser<Parsed>) {
    this.#run = run;
    this.#parser = parser;
  }

  /** The last completion. */
  get completion(): ParsedChatCompletion<Parsed> {
    return this.#run.completions.at(-1) ?? this.#run.fail('The stream ended without a completion.');
  }

  /** The last message of the model. */
  get message(): ParsedChatCompletionMessage<Parsed> {
    const message = this.completion.choices[0]?.message;
    return message ?? this.#run.fail('The completion has no choices, so there is no message.');
  }

  /** The last function that the model wanted called. */
  get functionCall(): ChatCompletionFunctionCall | undefined {
    return this.#run.completions.flatMap(functionCalls).at(-1);
  }

  /** Takes a completion. */
  add(completion: ParsedChatCompletion<Parsed>): ParsedChatCompletion<Parsed> {
    this.#run.completions.push(completion);
    this.#run.emit('chatCompletion', completion);
    const message = completion.choices[0]?.message;
    if (message !== undefined) {
      // Without an id, a call and its result could not be told to belong together.
      for (const call of message.tool_calls ?? []) call.id ||= newCallId();
      this.#run.messages.push(message);
      this.#run.emit('message', message);
      for (const call of functionCalls(completion)) this.#run.emit('functionToolCall', call);
    }
    return completion;
  }

  /** Takes the result of a tool. */
  addToolResult(message: ChatCompletionToolMessageParam): void {
    const { messages, readers } = this.#run;
    messages.push(message);
    this.#run.emit('message', message);
    if (typeof message.content === 'string') {
      this.toolResult = message.content;
      this.#run.emit('functionToolCallResult', message.content);
    }
    if (this.#lastChunk === undefined) return;
    const object = messagePrefix + JSON.stringify({ type: 'message', message });
    const { id, created, model } = this.#lastChunk;
    for (const [queue, takesMessages] of readers) {
      if (takesMessages) queue.push({ id, created, model, object, choices: [] });
    }
  }

  /** Emits what the run has come to. */
  finish(): void {
    const { functionCall, toolResult } = this;
    const run = this.#run;
    const completion = run.completions.at(-1);
    if (completion === undefined) return;
    const message = completion.choices[0]?.message;
    run.emit('finalChatCompletion', completion);
    if (message !== undefined) run.emit('finalMessage', message);
    if (message?.content) run.emit('finalContent', message.content);
    if (functionCall !== undefined) run.emit('finalFunctionToolCall', functionCall);
    if (toolResult !== undefined) run.emit('finalFunctionToolCallResult', toolResult);
    if (run.completions.some(({ usage }) => usage)) run.emit('totalUsage', run.usage);
  }

  /** Reads the stream of one completion to its end; the signal of the run ends it too. */
  async read(
    opening: Chunks | PromiseLike<Chunks>,
  ): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const run = this.#run;
    const stream = await opening;
    run.stream = stream;
    run.accumulator = undefined;
    run.parseSnapshot = this.#parser && (() => this.#parseSnapshot());
    run.emit('connect');
    let hasResults = false;
    for await (const chunk of stream) {
      const message = toolMessageIn(chunk);
      if (message === undefined) await this.#addChunk(chunk);
      else {
        await this.#complete();
        this.addToolResult(message);
        run.accumulator = undefined;
        hasResults = true;
      }
    }
    // A line with the result of a tool is no proof that the answer after it is whole.
    const { accumulator } = this.#run;
    if (hasResults && accumulator?.isFinished(false) === false) run.failTruncated(accumulator);
    return this.#complete();
  }

  /** Emits the end of what is still open, and adds the completion that was read to the run. */
  async #complete(): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const snapshot = this.#run.accumulator?.partial;
    if (snapshot === undefined) return undefined;
    for (const { index } of snapshot.choices) {
      const open = this.#run.accumulator?.choices.get(index);
      if (open) await this.#emitEnd(open, [...open.toolCalls.ended, ...open.toolCalls.begun]);
    }
    this.#run.parseSnapshot = undefined;
    dropParsed(snapshot);
    if (this.#parser) return this.add(await this.#parser.apply(snapshot));
    leaveUnparsed(snapshot);
    return this.add(snapshot);
  }

  /** Adds a chunk and emits its events. Texts that it ends are parsed before their end is emitted. */
  async #addChunk(chunk: ChatCompletionChunk): Promise<void> {
    const { choices } = this.#run.take(chunk);
    this.#lastChunk = chunk;
    for (const piece of chunk.choices) {
      const open = choices.get(piece.index);
      if (open === undefined) continue;
      this.#emitText(piece, open);
      if (piece.delta.tool_calls) await this.#emitToolCalls(piece, open);
      if (piece.finish_reason) await this.#emitEnd(open, open.toolCalls.ended);
    }
  }

  /** Adds what texts and arguments are parsed as so far. Called only when a snapshot is read. */
  #parseSnapshot(): void {
    const parser = this.#parser;
    for (const open of this.#run.accumulator?.choices.values() ?? []) {
      const { message } = open.choice;
      if (parser?.of() && message.content !== null) {
        Object.assign(message, { parsed: parser.beginning(open, message.content) });
      }
      for (const call of open.toolCalls.calls) {
        if (call.type !== 'function' || !parser?.of(call.function.name)) continue;
        const { name, arguments: text } = call.function;
        Object.assign(call.function, { parsed_arguments: parser.beginning(call, text, name) });
      }
    }
  }

  #emitText({ delta, logprobs }: ChatCompletionChunkChoice, open: OpenChoice): void {
    const { choice } = open;
    const { content, refusal } = choice.message;
    if (delta.content && content !== null) {
      this.#run.emit('content', delta.content, content);
      if (this.#run.has('content.delta')) {
        const parsed = this.#parser?.beginning(open, content) ?? null;
        this.#run.emit('content.delta', { delta: delta.content, snapshot: content, parsed });
      }
    }
    if (delta.refusal && refusal !== null) {
      this.#run.emit('refusal.delta', { delta: delta.refusal, snapshot: refusal });
    }
    if (logprobs?.content) {
      const event = { content: logprobs.content, snapshot: choice.logprobs?.content ?? [] };
      this.#run.emit('logprobs.content.delta', event);
    }
    if (logprobs?.refusal) {
      const event = { refusal: logprobs.refusal, snapshot: choice.logprobs?.refusal ?? [] };
      this.#run.emit('logprobs.refusal.delta', event);
    }
  }

  async #emitToolCalls({ delta }: ChatCompletionChunkChoice, open: OpenChoice): Promise<void> {
    for (const { index, function: piece } of delta.tool_calls ?? []) {
      const { current } = open;
      const next = open.toolCalls.get(index);
      if (current !== next) {
        await this.#emitTextDone(open);
        // It may be written in turns with others, so before the end only whole arguments count.
        if (current?.isWhole) await this.#emitToolCallDone(current);
        open.current = next;
      }
      if (next?.call.type !== 'function') continue;
      if (!this.#run.has('tool_calls.function.arguments.delta')) continue;
      const { name, arguments: text } = next.call.function;
      this.#run.emit('tool_calls.function.arguments.delta', {
        name,
        index,
        arguments: text,
        parsed_arguments: this.#parser?.beginning(next.call, text, name) ?? null,
        arguments_delta: piece?.arguments ?? '',
      });
    }
  }

  async #emitEnd(open: OpenChoice, calls: readonly OpenCall[]): Promise<void> {
    if (this.#parser?.rejects(open.choice.finish_reason)) return;
    await this.#emitTextDone(open);
    for (const call of calls.toSorted((one, other) => one.index - other.index)) {
      await this.#emitToolCallDone(call);
    }
  }

  async #emitTextDone(open: OpenChoice): Promise<void> {
    if (open.isTextDone) return;
    open.isTextDone = true;
    const { message, logprobs } = open.choice;
    const { content, refusal } = message;
    if (content) this.#run.emit('content.done', { content, parsed: await this.#parsed(content) });
    if (refusal) this.#run.emit('refusal.done', { refusal });
    if (logprobs?.content) this.#run.emit('logprobs.content.done', { content: logprobs.content });
    if (logprobs?.refusal) this.#run.emit('logprobs.refusal.done', { refusal: logprobs.refusal });
  }

  async #emitToolCallDone(open: OpenCall): Promise<void> {
    const { index, call } = open;
    if (call.type !== 'function' || open.isDone || call.incomplete === true) return;
    open.isDone = true;
    const { name, arguments: text } = call.function;
    const parsed_arguments = await this.#parsed(text, name);
    const event = { name, index, arguments: text, parsed_arguments };
    this.#run.emit('tool_calls.function.arguments.done', event);
  }

  /** What a text or arguments are parsed as; `null` when they do not fit, or are not parsed. */
  async #parsed(text: string, tool?: string): Promise<Parsed | null> {
    const parse = this.#parser?.of(tool);
    return parse ? parse(text).catch(() => null) : null;
  }
}

function functionCalls({ choices }: ParsedChatCompletion<unknown>): ChatCompletionFunctionCall[] {
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
}

function newCallId(): string {
  return `call_${Math.random().toString(36).slice(2)}`;
}

/** Removes what a snapshot was parsed as so far: the error of an answer that does not fit carries it. */
function dropParsed({ choices }: ChatCompletionSnapshot): void {
  for (const { message } of choices) {
    delete message.parsed;
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'function') delete call.function.parsed_arguments;
    }
  }
}

/** Makes a completion one of which nothing is parsed. */
function leaveUnparsed(
  completion: ChatCompletion,
): asserts completion is ParsedChatCompletion<never> {
  for (const { message } of completion.choices) Object.assign(message, { parsed: null });
}
