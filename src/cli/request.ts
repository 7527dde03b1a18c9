import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { Amount } from '../index.ts';
import { saveTo } from '../node/index.ts';
import { command, define, type Run } from './command.ts';
import { chooseTargets, save } from './files.ts';
import { findVideo } from './records.ts';
import { readInput, type Terminal } from './terminal.ts';
import { collect, Exit, exitCodes, parseDuration, UsageError } from './usage.ts';

interface RequestOptionsOfCommand {
  readonly query?: readonly string[] | undefined;
}

function queryOf(pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf('=');
      if (end < 1) throw new UsageError(`--query takes name=value; ${pair} is none.`);
      return [pair.slice(0, end), pair.slice(end + 1)];
    }),
  );
}

/** `model-gateway models`. */
export function modelsCommand(): Command {
  const program = command('models', 'The models that the key may use. Free.', [
    'models',
    'models gpt',
    'models --json | jq -r .[].id',
  ]).argument('[word]', 'only names with this in them');
  return define(program, async ([word = ''], run) => {
    const client = await run.client();
    const models = [];
    for await (const model of client.models.list({ signal: run.signal })) {
      if (model.id.toLowerCase().includes(word.toLowerCase())) models.push(model);
    }
    models.sort((a, b) => a.id.localeCompare(b.id));
    const lines = models.map(({ id, owned_by: by }) => (by === undefined ? id : `${id}  ${by}`));
    run.show(models, lines, 'There is none.');
  });
}

/** Writes an answer: JSON, or a file, which a terminal cannot show. */
async function write(answer: unknown, { terminal, context }: Run<unknown>): Promise<void> {
  if (!(answer instanceof Response)) {
    terminal.json(answer);
  } else if (terminal.isOutput) {
    const [, kind = 'bin'] =
      /^[^/]+\/([a-z\d]+)/i.exec(answer.headers.get('content-type') ?? '') ?? [];
    const targets = await chooseTargets('answer', {});
    const path = await targets.path(0, kind);
    const saved =
      context.isCharged === true
        ? await save(new Uint8Array(await answer.arrayBuffer()), path, terminal)
        : (await saveTo(answer, path)).path;
    if (saved !== undefined) terminal.line(saved);
  } else {
    terminal.raw(new Uint8Array(await answer.arrayBuffer()));
  }
}

/** `model-gateway get`. */
export function getCommand(): Command {
  const program = command('get', 'Send a GET to any route, and write its answer.', [
    'get /v1/models',
    'get /api/pricing --query group=default',
  ])
    .argument('<path>', 'below the base URL')
    .option('--query <name=value>', 'again for more', collect);
  return define<RequestOptionsOfCommand>(program, async ([path = ''], run) => {
    const { signal, options } = run;
    const client = await run.client();
    await write(await client.get(path, { query: queryOf(options.query), signal }), run);
  });
}

async function bodyOf(
  given: string | undefined,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<unknown> {
  let text = given;
  if (given?.startsWith('@') === true) {
    text = await readFile(given.slice(1), 'utf8').catch(() => {
      throw new UsageError(`The file ${given.slice(1)} cannot be read.`);
    });
  }
  // What is piped in is the body, whatever it begins with.
  text ??= await readInput(terminal, signal);
  if (text.trim() === '') {
    throw new UsageError('There is no body. Give JSON, @file, or pipe it in.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The body is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

/** `model-gateway post`. */
export function postCommand(): Command {
  const program = command('post', 'Send JSON to any route, and write its answer. May be charged.', [
    `post /v1/embeddings '{"model":"text-embedding-3-small","input":"a cat"}'`,
    'post /v1/rerank @query.json',
  ])
    .argument('<path>', 'below the base URL')
    .argument('[body]', 'JSON, or @file; without it, what is piped in')
    .option('--query <name=value>', 'again for more', collect)
    .option('-y, --yes', 'do not ask before it is sent');
  return define<RequestOptionsOfCommand>(program, async ([path = '', given], run) => {
    const { terminal, signal, options, context } = run;
    const client = await run.client();
    const body = await bodyOf(given, terminal, signal);
    await run.agree(`POST ${path} may be charged.`);
    const answer = await client.post(path, { body, query: queryOf(options.query), signal });
    context.isPaid = true;
    await write(answer, run);
  });
}

const inWords = ({ value, unit }: Amount): string =>
  `${Number(value.toPrecision(12)).toLocaleString('en')} ${unit}`;

const dollars = (amount: Amount | undefined): string => `$${amount?.value ?? '?'}`;

const timeOf = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');

function balanceCommand(): Command {
  const program = command('balance', 'What the key has used, and what is left. Free.', [
    'account balance',
  ]);
  return define(program, async (_, run) => {
    const client = await run.client();
    const balance = await client.account.balance({ signal: run.signal });
    const { used, limit, available, expiresAt } = balance;
    run.show(balance, [
      `used       ${inWords(used)}`,
      `limit      ${limit === undefined ? 'none' : inWords(limit)}`,
      ...(available === undefined ? [] : [`left       ${inWords(available)}`]),
      ...(expiresAt === undefined ? [] : [`ends       ${timeOf(expiresAt)}`]),
    ]);
  });
}

interface ChargesOptions {
  readonly request?: string | undefined;
  readonly task?: string | undefined;
  readonly model?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: number | undefined;
}

function chargesCommand(): Command {
  const program = command('charges', "The newest lines of the gateway's books. Free.", [
    'account charges --since 1h',
    'account charges --model sora-2 --type refund',
  ])
    .option('--request <id>', 'of one request')
    .option('--task <id>', 'of one video task: mostly its refund alone names it')
    .option('-m, --model <name>', 'of one model')
    .option('--type <word>', 'consume, refund or error')
    .option('--since <time>', 'of the last while, such as 30m or 24h', parseDuration);
  return define<ChargesOptions>(program, async (_, { options, ...run }) => {
    const { request: requestId, task: taskId, model, type, since } = options;
    const client = await run.client();
    const query = {
      requestId,
      taskId,
      model,
      type,
      from: since === undefined ? undefined : Date.now() - since,
    };
    const charges = await client.account.charges(query, { signal: run.signal });
    const lines = charges.data.map((line) => {
      const named = line.requestId ?? line.taskId ?? '';
      const parts = [timeOf(line.at), line.type.padEnd(7), inWords(line.amount).padStart(14)];
      return [...parts, line.model ?? '', named].join('  ');
    });
    run.show(charges, lines, 'There is none. That proves nothing.');
  });
}

function pricesCommand(): Command {
  const program = command('prices', 'The price list of the gateway, in US dollars. Free.', [
    'account prices sora',
  ]).argument('[word]', 'only models with this in their name');
  return define(program, async ([word = ''], run) => {
    const client = await run.client();
    const prices = await client.account.prices({ signal: run.signal });
    const models = prices.models.filter(({ model }) =>
      model.toLowerCase().includes(word.toLowerCase()),
    );
    const lines = models.map(({ model, perCall, input, output }) => {
      const price =
        perCall === undefined
          ? `${dollars(input)} in, ${dollars(output)} out, a million tokens`
          : `${dollars(perCall)} a call, image or second`;
      return `${model}  ${price}`;
    });
    run.show({ ...prices, models }, lines, 'There is none.');
  });
}

function settleCommand(): Command {
  const program = command('settle', 'Was it charged? From the books of the gateway. Free.', [
    'account settle task_6XnhjL4LMhmCap1PtApgEwBP133RWtaq',
    'account settle 202611220116521625292858268d9d67n6dFr3x',
  ]).argument('<id>', 'a request id, a video task that was made here, or a handle as JSON');
  return define(program, async ([named = ''], run) => {
    const client = await run.client();
    const found = await findVideo(named);
    const settled = await client.account.settle(found, { signal: run.signal });
    const { verdict, amount, why } = settled;
    const words = verdict.replace('_', ' ');
    run.show(settled, [amount === undefined ? words : `${words}  ${inWords(amount)}`]);
    if (!run.json) run.terminal.note(why);
    if (verdict === 'unknowable') throw new Exit(exitCodes.unknown);
  });
}

/** `model-gateway account`. */
export function accountCommand(): Command {
  return new Command('account')
    .description("What the gateway's books say: balance, charges, prices, and was I charged.")
    .addCommand(balanceCommand())
    .addCommand(chargesCommand())
    .addCommand(pricesCommand())
    .addCommand(settleCommand());
}
