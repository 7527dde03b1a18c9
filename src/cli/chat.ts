import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { StreamError, type ChatCompletionMessageParam, type Gateway } from '../index.ts';
import { formatOfExtension } from '../answers/bytes.ts';
import { command, define, type Run } from './command.ts';
import { isAddress } from './files.ts';
import { readPrompt } from './terminal.ts';
import { collect, parseNumber, UsageError } from './usage.ts';

interface ChatOptions {
  readonly model: string;
  readonly system?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly interactive?: boolean | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** A picture for a message: an address as it is, a file as a data URL. */
async function pictureURL(named: string): Promise<string> {
  if (isAddress(named)) return named;
  const extension = extname(named).slice(1).toLowerCase();
  const type = formatOfExtension(extension)?.types[extension] ?? '';
  if (!type.startsWith('image/')) {
    throw new UsageError(`${named} is no picture, such as a PNG or JPEG file, and no address.`);
  }
  const bytes = await readFile(named).catch(() => {
    throw new UsageError(`The file ${named} cannot be read.`);
  });
  return `data:${type};base64,${bytes.toString('base64')}`;
}

async function userMessage(
  text: string,
  images: readonly string[],
): Promise<ChatCompletionMessageParam> {
  if (images.length === 0) return { role: 'user', content: text };
  const pictures = await Promise.all(images.map(pictureURL));
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      ...pictures.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
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

/** Streams one answer to the terminal. @returns the text of the answer */
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
    // The rest would be charged, and lost.
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
  if (terminal.isMessages) {
    const tokens =
      usage == null ? '' : `${usage.prompt_tokens} + ${usage.completion_tokens} tokens, `;
    const total = ((performance.now() - start) / 1_000).toFixed(1);
    terminal.aside(`${tokens}first after ${Math.round(first ?? 0)} ms, all after ${total} s\n`);
  }
  return completion.choices[0]?.message.content ?? '';
}

/** Goes on until the person ends it: an empty line does nothing, `/exit` and Ctrl-D end. */
async function converse(
  client: Gateway,
  messages: ChatCompletionMessageParam[],
  run: Run<ChatOptions>,
): Promise<void> {
  const { terminal, signal } = run;
  if (!terminal.canAsk) throw new UsageError('-i needs a terminal to ask in.');
  terminal.note('An empty line or Ctrl-D ends it.');
  for (;;) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // Ctrl-D closes it without an answer.
    const said = await new Promise<string>((resolve, reject) => {
      lines.once('close', () => resolve(''));
      lines.question('> ', { signal }).then(resolve, reject);
    }).finally(() => lines.close());
    if (said.trim() === '' || said.trim() === '/exit') return;
    messages.push({ role: 'user', content: said });
    messages.push({ role: 'assistant', content: await answer(client, messages, run) });
  }
}

/** One answer as JSON, whole or as far as it came. */
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
  const program = command('chat', 'Ask a model, and see its answer as it comes.', [
    'chat -m gpt-4o-mini "Say hello in five words."',
    'git diff | model-gateway chat -m gpt-4o-mini "Write a commit message."',
    'chat -m gpt-4o --image cat.png "What is this?"',
    'chat -m gpt-4o-mini -i',
  ])
    .argument('[prompt...]', 'what to say; what is piped in comes below it')
    .requiredOption('-m, --model <name>', 'the model')
    .option('-s, --system <text>', 'what the model is told first')
    .option('-i, --interactive', 'go on asking')
    .option(
      '--image <file>',
      'a picture to look at, as a file or an address; again for more',
      collect,
    )
    .option('--temperature <number>', '0 to 2', parseNumber(0, 2))
    .option(
      '--max-tokens <number>',
      'how long the answer may be',
      parseNumber(1, 10_000_000, true),
    );
  return define<ChatOptions>(program, async (words, run) => {
    const { options, terminal, signal, context } = run;
    const client = await run.client(options.model);
    context.isCharged = true;
    const messages: ChatCompletionMessageParam[] = [];
    if (options.system !== undefined) messages.push({ role: 'system', content: options.system });
    if (options.interactive === true) {
      if (words.length > 0) {
        messages.push(await userMessage(words.join(' '), options.image ?? []));
        messages.push({ role: 'assistant', content: await answer(client, messages, run) });
      }
      await converse(client, messages, run);
      return;
    }
    const prompt = await readPrompt(words, terminal, signal);
    messages.push(await userMessage(prompt, options.image ?? []));
    if (options.json === true) {
      await answerAsJSON(client, messages, run);
      return;
    }
    try {
      await answer(client, messages, run);
    } catch (error) {
      // What came is on the screen; the message begins on a line of its own.
      if (StreamError.isInstance(error)) terminal.data('\n');
      throw error;
    }
  });
}
