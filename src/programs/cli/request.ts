import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Amount, ModelPrice } from '../../index.ts';
import { saveTo } from '../../adapters/node/index.ts';
import { amountFormat } from '../amounts.ts';
import { bareCommand, command, define, type Run } from './command.ts';
import { chooseTargets, save } from './files.ts';
import { findCall } from './records.ts';
import { reasonText } from './report.ts';
import { readInput, type Terminal } from './terminal.ts';
import { collect, Exit, exitCodes, parseDuration, UsageError } from './usage.ts';

interface RequestOptionsOfCommand {
  readonly query?: readonly string[] | undefined;
}

function parseQuery(pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf('=');
      if (end < 1) throw new UsageError(`--query expects name=value, not ${pair}.`);
      return [pair.slice(0, end), pair.slice(end + 1)];
    }),
  );
}

/** `model-gateway models`. */
export function modelsCommand(): Command {
  const program = command('models', 'List the models that the key may use. Free.', [
    'models',
    'models gpt',
    "models --json | jq -r '.[].id'",
  ]).argument('[word]', 'only names that contain this');
  return define(program, async ([word = ''], run) => {
    const { options, terminal } = run;
    const client = await run.client();
    const models = [];
    let total = 0;
    for await (const model of client.models.list({ signal: run.signal })) {
      total += 1;
      if (model.id.toLowerCase().includes(word.toLowerCase())) models.push(model);
    }
    models.sort((a, b) => a.id.localeCompare(b.id));
    const lines = models.map(({ id, owned_by: by }) => (by === undefined ? id : `${id}  ${by}`));
    if (options.json === true) terminal.json(models);
    else if (total === 0) terminal.note('The key may use no model.');
    else if (lines.length === 0)
      terminal.note(`None of the ${total} models has "${word}" in its name.`);
    else for (const line of lines) terminal.line(line);
  });
}

/** Writes JSON or bytes to stdout. On a terminal, bytes are saved to a file. */
async function write(answer: unknown, { terminal, context }: Run<unknown>): Promise<void> {
  if (!(answer instanceof Response)) {
    terminal.json(answer);
  } else if (terminal.isOutput) {
    const [, kind = 'bin'] =
      /^[^/]+\/([a-z\d]+)/i.exec(answer.headers.get('content-type') ?? '') ?? [];
    const targets = await chooseTargets('answer', {});
    const saved =
      context.isCharged === true
        ? await save(new Uint8Array(await answer.arrayBuffer()), kind, targets, terminal)
        : await targets.write(kind, (path) => saveTo(answer, path));
    if (saved !== undefined) terminal.line(saved);
  } else {
    terminal.raw(new Uint8Array(await answer.arrayBuffer()));
  }
}

/** `model-gateway get`. */
export function getCommand(): Command {
  const program = command('get', 'Send a GET request to any route and print the response.', [
    'get /v1/models',
    'get /api/pricing --query group=default',
  ])
    .argument('<path>', 'the path below the base URL')
    .option('--query <name=value>', 'a query parameter; repeatable', collect);
  return define<RequestOptionsOfCommand>(program, async ([path = ''], run) => {
    const { signal, options } = run;
    const client = await run.client();
    await write(await client.get(path, { query: parseQuery(options.query), signal }), run);
  });
}

async function readBody(
  bodyOrFile: string | undefined,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<unknown> {
  let text = bodyOrFile;
  if (bodyOrFile?.startsWith('@') === true) {
    text = await readFile(bodyOrFile.slice(1), 'utf8').catch(() => {
      throw new UsageError(`The file ${bodyOrFile.slice(1)} cannot be read.`);
    });
  }
  // Piped input is always the body itself, even if it begins with @.
  text ??= await readInput(terminal, signal);
  if (text.trim() === '') {
    throw new UsageError('The body is missing. Pass JSON or @file, or pipe it in.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `The body is not valid JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

/** `model-gateway post`. */
export function postCommand(): Command {
  const program = command(
    'post',
    'Send JSON to any route and print the response. May be charged.',
    [
      `post /v1/embeddings '{"model":"text-embedding-3-small","input":"a cat"}'`,
      'post /v1/rerank @query.json',
    ],
  )
    .argument('<path>', 'the path below the base URL')
    .argument('[body]', 'JSON or @file (default: standard input)')
    .option('--query <name=value>', 'a query parameter; repeatable', collect)
    .option('-y, --yes', 'do not ask for confirmation before sending');
  return define<RequestOptionsOfCommand>(program, async ([path = '', bodyOrFile], run) => {
    const { terminal, signal, options, context } = run;
    const client = await run.client();
    const body = await readBody(bodyOrFile, terminal, signal);
    await run.confirmCharge(`POST ${path} may be charged.`);
    const answer = await client.post(path, { body, query: parseQuery(options.query), signal });
    context.isPaid = true;
    await write(answer, run);
  });
}

/** A column of a table. */
interface Column {
  readonly heading: string;
  readonly isNumber?: boolean;
}

/** Returns the lines of a table with headings; none if it has no rows. */
function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const widths = columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const formatRow = (cells: readonly string[]): string =>
    columns
      .map(({ isNumber = false }, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        return isNumber ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [formatRow(columns.map(({ heading }) => heading)), ...rows.map(formatRow)];
}

const dollars = (amount: Amount | undefined): string => `$${amount?.value ?? '?'}`;

const formatTime = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');

function balanceCommand(): Command {
  const program = command('balance', 'Show the usage and the remaining credit of the key. Free.', [
    'account balance',
  ]);
  return define(program, async (_, run) => {
    const client = await run.client();
    const balance = await client.account.balance({ signal: run.signal });
    const { used, limit, available, expiresAt } = balance;
    const format = await amountFormat(run.json ? [] : [used], client, run.signal);
    run.show(balance, [
      `used       ${format(used)}`,
      `limit      ${limit === undefined ? 'none' : format(limit)}`,
      ...(available === undefined ? [] : [`left       ${format(available)}`]),
      ...(expiresAt === undefined ? [] : [`expires    ${formatTime(expiresAt)}`]),
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
  const program = command('charges', "List the latest entries of the gateway's usage log. Free.", [
    'account charges --since 1h',
    'account charges --model sora-2 --type refund',
  ])
    .option('--request <id>', 'only this request id')
    .option('--task <id>', 'only this video task; usually only its refund has the task id')
    .option('-m, --model <name>', 'only this model')
    .option('--type <word>', 'consume, refund or error')
    .option('--since <time>', 'only the last 30m, 24h and so on', parseDuration);
  return define<ChargesOptions>(program, async (_, run) => {
    const { options } = run;
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
    const amounts = run.json ? [] : charges.data.map(({ amount }) => amount);
    const format = await amountFormat(amounts, client, run.signal);
    const rows = charges.data.map((charge) => {
      const { at, type: kind, amount, model: name = '', requestId: id, taskId: task } = charge;
      return [formatTime(at), kind, format(amount), name, id ?? task ?? ''];
    });
    const columns = [
      { heading: 'TIME' },
      { heading: 'TYPE' },
      { heading: 'AMOUNT', isNumber: true },
      { heading: 'MODEL' },
      { heading: 'REQUEST OR TASK' },
    ];
    run.show(
      charges,
      formatTable(columns, rows),
      'No entries. The log may be incomplete or late, so this is not proof that nothing was charged.',
    );
  });
}

/** Returns the price of a model in words. */
function describePrice(price: ModelPrice): string {
  const { billedPer, perCall, perSecond, perCharacter, input, output } = price;
  if (billedPer === 'unknown') return 'price unknown';
  if (perSecond !== undefined) return `${dollars(perSecond)} per second`;
  if (perCharacter !== undefined) return `${dollars(perCharacter)} per character`;
  if (perCall !== undefined) return `${dollars(perCall)} per call, image or second`;
  return `${dollars(input)} in, ${dollars(output)} out, per million tokens`;
}

function pricesCommand(): Command {
  const program = command('prices', "Show the gateway's price list in US dollars. Free.", [
    'account prices sora',
  ]).argument('[word]', 'only models whose name contains this');
  return define(program, async ([word = ''], run) => {
    const client = await run.client();
    const prices = await client.account.prices({ signal: run.signal });
    const models = prices.models.filter(({ model }) =>
      model.toLowerCase().includes(word.toLowerCase()),
    );
    const rows = models.map((price) => [price.model, describePrice(price)]);
    const lines = formatTable([{ heading: 'MODEL' }, { heading: 'PRICE' }], rows);
    const total = prices.models.length;
    const none =
      total === 0
        ? 'The price list is empty.'
        : `None of the ${total} models with a price has "${word}" in its name.`;
    run.show({ ...prices, models }, lines, none);
  });
}

function settleCommand(): Command {
  const program = command(
    'settle',
    "Check in the gateway's usage log whether a call was charged. Free.",
    [
      'account settle task_6XnhjL4LMhmCap1PtApgEwBP133RWtaq',
      'account settle 202611220116521625292858268d9d67n6dFr3x',
    ],
  ).argument('<id>', 'a request id, a video task or call id of this computer, or a handle as JSON');
  return define(program, async ([id = ''], run) => {
    const client = await run.client();
    const found = await findCall(id);
    if (found === undefined) {
      const reason = `The request id of ${id} is unknown, so its charge cannot be looked up. Compare the time of the call with the usage log: model-gateway account charges`;
      run.show({ verdict: 'unknowable', reason }, ['unknowable']);
      if (!run.json) run.terminal.note(reason);
      throw new Exit(exitCodes.unknown);
    }
    const settled = await client.account.settle(found, { signal: run.signal });
    const { verdict, amount, reason } = settled;
    const text = verdict.replace('_', ' ');
    const format = await amountFormat(run.json ? [] : [amount], client, run.signal);
    run.show(settled, [amount === undefined ? text : `${text}  ${format(amount)}`]);
    if (!run.json) run.terminal.note(reasonText(reason));
    if (verdict === 'unknowable') throw new Exit(exitCodes.unknown);
  });
}

/** `model-gateway account`. */
export function accountCommand(): Command {
  const description =
    'Show balance, charges and prices, and check whether a call was charged. Free.';
  const examples = ['account balance', 'account charges --since 1h', 'account settle task_abc'];
  return bareCommand('account', description, examples)
    .addCommand(balanceCommand())
    .addCommand(chargesCommand())
    .addCommand(pricesCommand())
    .addCommand(settleCommand());
}
