import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import {
  StreamError,
  type ChatCompletionMessageParam,
  type Gateway,
  usageOf,
} from '../../index.ts';
import { findFormatByExtension } from '../../answers/bytes.ts';
import { command, define, type Run, withResend } from './command.ts';
import { report } from './report.ts';
import { isAddress } from './files.ts';
import { formatDollars, readPrompt } from './terminal.ts';
import { collect, parseNumber, UsageError } from './usage.ts';

interface ChatOptions {
  readonly model: string;
  readonly system?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly interactive?: boolean | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Returns a URL unchanged, or converts a file to a data URL. */
async function imageURL(pathOrURL: string): Promise<string> {
  if (isAddress(pathOrURL)) return pathOrURL;
  const extension = extname(pathOrURL).slice(1).toLowerCase();
  const type = findFormatByExtension(extension)?.types[extension] ?? '';
  if (!type.startsWith('image/')) {
    throw new UsageError(
      `${pathOrURL} is neither an image file, such as PNG or JPEG, nor an address.`,
    );
  }
  const bytes = await readFile(pathOrURL).catch(() => {
    throw new UsageError(`The file ${pathOrURL} cannot be read.`);
  });
  return `data:${type};base64,${bytes.toString('base64')}`;
}

async function userMessage(
  text: string,
  images: readonly string[],
): Promise<ChatCompletionMessageParam> {
  if (images.length === 0) return { role: 'user', content: text };
  const urls = await Promise.all(images.map(imageURL));
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      ...urls.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
    ],
  };
}

function ask(
  client: Gateway,
  messages: readonly ChatCompletionMessageParam[],
  { options: { model, temperature, maxTokens }, signal }: Run<ChatOptions>,
) {
  return client.chat.completions.stream(
    {
      model,
      messages: [...messages],
      temperature,
      max_tokens: maxTokens,
      stream_options: { include_usage: true },
    },
    { signal },
  );
}

/** Streams an answer to the terminal, and returns its text. */
async function answer(
  client: Gateway,
  messages: readonly ChatCompletionMessageParam[],
  run: Run<ChatOptions>,
): Promise<string> {
  const { terminal } = run;
  const start = performance.now();
  const stream = ask(client, messages, run);
  let first: number | undefined;
  let isThinking = false;
  let last = '';
  for await (const { choices } of stream) {
    // Leaving the loop stops the stream: the rest would be charged but not shown.
    if (terminal.output.failure !== undefined) return last;
    const delta = choices[0]?.delta;
    const thought = delta?.reasoning_content ?? '';
    const text = delta?.content ?? '';
    if (thought !== '' || text !== '') first ??= performance.now() - start;
    if (thought !== '') terminal.aside(thought);
    if (thought !== '') isThinking = true;
    if (text === '') continue;
    if (isThinking) terminal.aside('\n\n');
    isThinking = false;
    terminal.data(text);
    last = text;
  }
  if (!last.endsWith('\n')) terminal.data('\n');
  const completion = await stream.finalChatCompletion();
  const { usage } = completion;
  const { inputTokens, outputTokens, cost } = usageOf(usage);
  if (terminal.isMessages) {
    const tokens = usage == null ? '' : `${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out, `;
    const price = cost === undefined ? '' : `${formatDollars(cost)}, `;
    const total = ((performance.now() - start) / 1_000).toFixed(1);
    terminal.aside(
      `${tokens}${price}first after ${Math.round(first ?? 0)} ms, all after ${total} s\n`,
    );
  }
  return completion.choices[0]?.message.content ?? '';
}

/** Reads a line. Returns `undefined` after Ctrl-D. */
async function readLine(
  history: string[],
  { terminal: { isDumb }, signal }: Run<unknown>,
): Promise<string | undefined> {
  const { stdin: input, stderr: output } = process;
  // One interface per line, because an open one would intercept Ctrl-C during the answer.
  const lines = createInterface({
    input,
    output,
    terminal: !isDumb,
    history: [...history],
    removeHistoryDuplicates: true,
  });
  lines.on('history', (entries) => history.splice(0, Infinity, ...entries));
  return new Promise<string | undefined>((resolve, reject) => {
    lines.once('close', () => resolve(undefined));
    lines.question('> ', { signal }).then(resolve, reject);
  }).finally(() => lines.close());
}

/** Chats until `/exit` or Ctrl-D. If an answer fails, the error is printed and the question dropped. */
async function converse(
  client: Gateway,
  messages: ChatCompletionMessageParam[],
  run: Run<ChatOptions>,
): Promise<void> {
  const { terminal, signal } = run;
  if (!terminal.canAsk) throw new UsageError('-i requires a terminal.');
  terminal.note('/exit or Ctrl-D ends the conversation.');
  const history: string[] = [];
  for (;;) {
    const line = await readLine(history, run);
    if (line === undefined || line.trim() === '/exit') return;
    if (line.trim() === '') continue;
    const question: ChatCompletionMessageParam = { role: 'user', content: line };
    try {
      const content = await answer(client, [...messages, question], run);
      messages.push(question, { role: 'assistant', content });
    } catch (error) {
      if (signal.aborted) throw error;
      if (StreamError.isInstance(error)) terminal.data('\n');
      await report(error, terminal, run.context);
    }
  }
}

/** Writes an answer as JSON; if it fails, the text received so far. */
async function answerAsJSON(
  client: Gateway,
  messages: readonly ChatCompletionMessageParam[],
  run: Run<ChatOptions>,
): Promise<void> {
  const { terminal } = run;
  try {
    terminal.json(await ask(client, messages, run).finalChatCompletion());
  } catch (error) {
    if (StreamError.isInstance(error) && error.partial != null) {
      terminal.json({ error: error.message, partial: error.partial });
    }
    throw error;
  }
}

/** `model-gateway chat`. */
export function chatCommand(): Command {
  const program = command('chat', 'Ask a model and stream its answer.', [
    'chat -m gpt-4o-mini "Say hello in five words."',
    'git diff | model-gateway chat -m gpt-4o-mini "Write a commit message." -',
    'chat -m gpt-4o --image cat.png "What is this?"',
    'chat -m gpt-4o-mini -i',
  ])
    .argument(
      '[prompt...]',
      'the prompt; - appends standard input, which is also read without a prompt',
    )
    .requiredOption('-m, --model <name>', 'the model')
    .option('-s, --system <text>', 'the system message')
    .option('-i, --interactive', 'continue the conversation')
    .option('--image <file>', 'an image for the model, as a file or URL; repeatable', collect)
    .option('--temperature <number>', '0 to 2', parseNumber(0, 2))
    .option(
      '--max-tokens <number>',
      'the maximum length of the answer',
      parseNumber(1, 10_000_000, true),
    );
  return define<ChatOptions>(withResend(program), async (args, run) => {
    const { options, terminal, signal, context } = run;
    const client = await run.client(options.model);
    context.isCharged = true;
    context.hasShownCost = true;
    const messages: ChatCompletionMessageParam[] = [];
    if (options.system !== undefined) messages.push({ role: 'system', content: options.system });
    if (options.interactive === true) {
      if (args.length > 0) {
        messages.push(await userMessage(args.join(' '), options.image ?? []));
        messages.push({ role: 'assistant', content: await answer(client, messages, run) });
      }
      await converse(client, messages, run);
      return;
    }
    const prompt = await readPrompt(args, terminal, signal);
    messages.push(await userMessage(prompt, options.image ?? []));
    if (options.json === true) {
      await answerAsJSON(client, messages, run);
      return;
    }
    try {
      await answer(client, messages, run);
    } catch (error) {
      // Text is already on the screen, so the message starts on a new line.
      if (StreamError.isInstance(error)) terminal.data('\n');
      throw error;
    }
  });
}
