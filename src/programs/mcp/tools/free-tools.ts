import type { CallToolResult, McpServer } from '#mcp-sdk';
import * as z from '#mcp-sdk';
import { closeTo } from '../../../answers/similar-names.ts';
import {
  InvalidInputError,
  type Amount,
  type ModelPrice,
  type Settlement,
} from '../../../index.ts';
import { amountFormat } from '../../amounts.ts';
import { round } from './cost.ts';
import { ToolError } from './errors.ts';
import { isUndelivered, type JobRecord, type JobRequest } from '../jobs/job.ts';
import type { ServerParts } from './parts.ts';
import { textBlock, toOutput, toResult } from './results.ts';
import { type Arguments, jobOutput, type Schemas } from './schemas.ts';
import { answer, progressNotifier } from './tool-call.ts';

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** Returns a result with the same content as text, for clients that read no structured content. */
function toStructured(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [textBlock(text)], structuredContent };
}

const amountOutput = z.object({ value: z.number(), unit: z.string() });

async function findJob({ store }: ServerParts, callId: string): Promise<JobRecord> {
  const record = await store.read(callId);
  if (record !== undefined) return record;
  const records = await store.list();
  const ofTask = records.find(({ ref }) => ref?.id === callId);
  if (ofTask !== undefined) return ofTask;
  const close = closeTo(
    callId,
    records.map((other) => other.callId),
  );
  const advice =
    close.length === 0 ? 'list_jobs lists them.' : `Did you mean ${close.join(' or ')}?`;
  throw new ToolError(`There is no job ${callId}. ${advice}`);
}

/** Returns the request that `estimate_cost` asks about. */
function toRequest({
  tool,
  n,
  size,
  quality,
  seconds,
  text = '',
}: Arguments<'estimate_cost'>): JobRequest {
  switch (tool) {
    case 'create_image':
    case 'edit_image':
      return { tool, params: { prompt: '', n, size, quality } };
    case 'create_speech':
      return { tool, params: { input: text, voice: '', response_format: 'mp3' } };
    case 'transcribe_audio':
      return { tool, params: {} };
    case 'create_video':
      return {
        tool,
        params: {
          prompt: '',
          size,
          ...(seconds === undefined ? {} : { seconds: String(seconds) }),
        },
      };
  }
}

const dollars = ({ value }: Amount): string => `$${round(value)}`;

/** Returns the price of a model in words. */
function describePrice(price: ModelPrice): string {
  const { billedPer, perCall, perSecond, perCharacter, input, output } = price;
  if (billedPer === 'unknown') return 'price unknown';
  if (perSecond !== undefined) return `${dollars(perSecond)} per second`;
  if (perCharacter !== undefined) return `${dollars(perCharacter)} per character`;
  if (perCall !== undefined) return `${dollars(perCall)} per image, second or call`;
  const read = input === undefined ? '?' : dollars(input);
  const written = output === undefined ? '?' : dollars(output);
  return `${read} in, ${written} out, per million tokens`;
}

async function listModels(
  { models, client }: ServerParts,
  { search = '' }: Arguments<'list_models'>,
): Promise<CallToolResult> {
  const prices = await client.account.prices().then(
    (list) => new Map(list.models.map((price) => [price.model, price])),
    // Not every gateway publishes prices.
    () => new Map<string, ModelPrice>(),
  );
  const all = await models.get();
  const found = all
    .filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()))
    .toSorted((a, b) => a.id.localeCompare(b.id));
  const shown = found.slice(0, 200).map(({ id, owner }) => {
    const price = prices.get(id);
    return {
      id,
      ...(owner === undefined ? {} : { owner }),
      ...(price === undefined ? {} : { price: describePrice(price) }),
    };
  });
  const lines = shown.map(({ id, price }) => (price === undefined ? id : `${id}: ${price}`));
  const rest = found.length - shown.length;
  if (rest > 0) lines.push(`${rest} more; pass search.`);
  const none =
    all.length === 0
      ? 'No models.'
      : `None of the ${all.length} models has "${search}" in its name.`;
  return toStructured(lines.join('\n') || none, { models: shown, total: found.length });
}

async function listJobs(
  { store }: ServerParts,
  { limit, state }: Arguments<'list_jobs'>,
): Promise<CallToolResult> {
  const jobs = (await store.list())
    .map((record) => ({ ...toOutput(record, false), label: record.label }))
    .filter((job) => state === undefined || job.state === state)
    .slice(0, limit);
  const lines = jobs.map(({ state: now, tool, call_id: callId, label, files }) =>
    [now.padEnd(9), tool, callId, `"${label}"`, ...files.map(({ path }) => path)].join(' '),
  );
  return toStructured(lines.join('\n') || 'No jobs.', { jobs });
}

const advice: Readonly<Record<Settlement['verdict'], string>> = {
  charged: 'It was charged.',
  refunded: 'It was charged and refunded.',
  not_charged: 'It was not charged.',
  unknowable: 'The usage log does not show whether it was charged.',
};

/** Looks a call up in the usage log by the ids that its record contains. */
async function checkCharge(
  parts: ServerParts,
  { call_id: callId, request_id: requestId }: Arguments<'check_charge'>,
): Promise<CallToolResult> {
  const { client } = parts;
  const { account } = client;
  if (callId === undefined && requestId === undefined) {
    throw new ToolError('Pass the call_id of a job, or a request_id.');
  }
  const record = callId === undefined ? undefined : await findJob(parts, callId);
  const id = requestId ?? record?.requestId;
  const ref = record?.ref;
  if (id === undefined && ref?.kind !== 'video') {
    const problem = 'The request has no id, because its response was lost.';
    const from = (record?.createdAt ?? 0) - 5_000;
    const to = (record?.updatedAt ?? 0) + 60_000;
    const list = account.charges({ model: record?.model, from, to });
    const { data } = await list.catch((error: unknown) => {
      if (!InvalidInputError.isInstance(error)) throw error;
      throw new ToolError(`${problem} This gateway finds charges by that id only.`);
    });
    const format = await amountFormat(
      data.map(({ amount }) => amount),
      client,
    );
    const lines = data.map(
      ({ at, type, amount }) => `${new Date(at).toISOString()} ${type} ${format(amount)}`,
    );
    const text = `${problem} Entries of ${record?.model} at that time:\n${lines.join('\n') || 'none; the log may lag behind'}`;
    return toStructured(text, { verdict: 'unknowable', reason: text, entries: lines });
  }
  const target = ref?.kind === 'video' ? { ...ref, requestId: id } : (id ?? '');
  const { verdict, amount, reason, isFinal } = await account.settle(target);
  const format = await amountFormat([amount], client);
  const shown = amount === undefined ? '' : ` ${format(amount)}.`;
  return toStructured(`${advice[verdict]}${shown} ${reason}`, {
    verdict,
    reason,
    is_final: isFinal,
    ...(amount === undefined ? {} : { amount }),
  });
}

async function readBalance({ client }: ServerParts): Promise<CallToolResult> {
  const { used, limit, available, expiresAt } = await client.account.balance();
  const format = await amountFormat([used], client);
  const expiry = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  const lines = [
    `used ${format(used)}`,
    `limit ${limit === undefined ? 'none' : format(limit)}`,
    ...(available === undefined ? [] : [`left ${format(available)}`]),
    ...(expiry === undefined ? [] : [`expires ${expiry}`]),
  ];
  return toStructured(lines.join('\n'), {
    used,
    ...(limit === undefined ? {} : { limit }),
    ...(available === undefined ? {} : { available }),
    ...(expiry === undefined ? {} : { expires_at: expiry }),
  });
}

const config = <Input, Output>(
  title: string,
  description: string,
  inputSchema: Input,
  outputSchema: Output,
) => ({ title, description, inputSchema, outputSchema, annotations: { title, ...annotations } });

/** Registers the tools that are never charged. */
export function registerFreeTools(server: McpServer, schemas: Schemas, parts: ServerParts): void {
  const { jobs, inline, wait: timeout, estimator } = parts;
  server.registerTool(
    'wait_video',
    config(
      'Wait for a job',
      `Waits for a video, or for any other job that returned "running", for at most ${Math.round(timeout / 1_000)} seconds, and returns its state. The file is saved once it is ready. Free: call it until the state is done.`,
      schemas.wait_video,
      jobOutput,
    ),
    ({ call_id: callId }, context) =>
      answer(async () => {
        const known = await findJob(parts, callId);
        if (isUndelivered(known)) {
          await parts.store.update(known.callId, { state: 'submitted', message: undefined });
        }
        const notify = progressNotifier(context);
        const record = await jobs.wait(known.callId, {
          timeout,
          signal: context.mcpReq.signal,
          onProgress: notify && (({ state, status }, seconds) => notify(status ?? state, seconds)),
        });
        return toResult(record ?? known, false, inline);
      }),
  );
  server.registerTool(
    'list_jobs',
    config(
      'List jobs',
      'Lists the paid calls made on this computer, newest first, with their state and files. Free.',
      schemas.list_jobs,
      z.object({ jobs: z.array(jobOutput.extend({ label: z.string() })) }),
    ),
    (args) => answer(() => listJobs(parts, args)),
  );
  server.registerTool(
    'list_models',
    config(
      'List models',
      'Lists the models that the key can use, with their prices if the gateway publishes them. Free.',
      schemas.list_models,
      z.object({
        models: z.array(
          z.object({ id: z.string(), owner: z.string().optional(), price: z.string().optional() }),
        ),
        total: z.number(),
      }),
    ),
    (args) => answer(() => listModels(parts, args)),
  );
  server.registerTool(
    'estimate_cost',
    config(
      'Estimate a cost',
      "Estimates the cost of a call in US dollars by the gateway's price list, before it is made. Free.",
      schemas.estimate_cost,
      z.object({ cost_usd: z.number().optional(), reason: z.string().optional() }),
    ),
    (args) =>
      answer(async () => {
        const { amount, reason } = await estimator.estimate(args.model, toRequest(args));
        return amount === undefined
          ? toStructured(`The cost is unknown: ${reason}.`, { reason })
          : toStructured(`About $${round(amount.value)}.`, { cost_usd: amount.value });
      }),
  );
  server.registerTool(
    'account_balance',
    config(
      'Show the balance',
      'Shows the used and the remaining credit of the key. Free.',
      schemas.account_balance,
      z.object({
        used: amountOutput,
        limit: amountOutput.optional(),
        available: amountOutput.optional(),
        expires_at: z.string().optional(),
      }),
    ),
    () => answer(() => readBalance(parts)),
  );
  server.registerTool(
    'check_charge',
    config(
      'Check a charge',
      "Looks up in the gateway's usage log whether a call was charged or refunded. Free.",
      schemas.check_charge,
      z.object({
        verdict: z.enum(['charged', 'refunded', 'not_charged', 'unknowable']),
        reason: z.string(),
        is_final: z.boolean().optional(),
        amount: amountOutput.optional(),
        entries: z.array(z.string()).optional(),
      }),
    ),
    (args) => answer(() => checkCharge(parts, args)),
  );
}
