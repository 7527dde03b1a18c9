import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { command, define } from './command.ts';
import { readInput } from './terminal.ts';
import { collect, UsageError } from './usage.ts';

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
    const { terminal, signal, json } = run;
    const client = await run.client();
    const models = [];
    for await (const model of client.models.list({ signal })) {
      if (model.id.toLowerCase().includes(word.toLowerCase())) models.push(model);
    }
    models.sort((a, b) => a.id.localeCompare(b.id));
    if (json) terminal.json(models);
    else if (models.length === 0) terminal.note('There is none.');
    for (const { id, owned_by: owner } of json ? [] : models) {
      terminal.line(owner === undefined ? id : `${id}  ${owner}`);
    }
  });
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
    const { terminal, signal, options } = run;
    const client = await run.client();
    terminal.json(await client.get(path, { query: queryOf(options.query), signal }));
  });
}

async function bodyOf(given: string | undefined, signal: AbortSignal): Promise<unknown> {
  let text = given;
  if (given?.startsWith('@') === true) {
    text = await readFile(given.slice(1), 'utf8').catch(() => {
      throw new UsageError(`The file ${given.slice(1)} cannot be read.`);
    });
  }
  // What is piped in is the body, whatever it begins with.
  text ??= await readInput(true, signal);
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
    const { terminal, signal, options } = run;
    const client = await run.client();
    const body = await bodyOf(given, signal);
    await run.agree(`POST ${path} may be charged.`);
    terminal.json(await client.post(path, { body, query: queryOf(options.query), signal }));
  });
}
