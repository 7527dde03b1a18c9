import { costInAnswer, dollars } from '../answers/cost.ts';
import {
  isNumber,
  listObjects,
  numberFrom,
  parseJSON,
  trimmedText,
  toFields,
} from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { Amount, ModelPrice } from '../answers/account.ts';
import type { AccountRules, GatewayProfile, UsageLogEntry } from '../options/gateway-profile.ts';

const fieldsIn = (value: unknown): JsonObject => {
  const parsed = typeof value === 'string' ? parseJSON(value) : value;
  return toFields(parsed);
};

/** Returns a row of `LiteLLM_SpendLogs`; `undefined` without an amount or a time. */
function readSpend(raw: JsonObject): UsageLogEntry | undefined {
  const { spend, endTime, startTime, status } = raw;
  const at = Date.parse(trimmedText(endTime) ?? trimmedText(startTime) ?? '');
  if (!isNumber(spend) || spend < 0 || Number.isNaN(at)) return undefined;
  const { error_information: error } = fieldsIn(raw['metadata']);
  return {
    type: status === 'failure' ? 'error' : 'consume',
    amount: dollars(spend),
    model: trimmedText(raw['model_group']) ?? trimmedText(raw['model']),
    at,
    requestId: trimmedText(raw['litellm_call_id']) ?? trimmedText(raw['request_id']),
    taskId: undefined,
    reason: trimmedText(fieldsIn(error)['error_message']),
    tokens: {
      input: numberFrom(raw['prompt_tokens']) ?? 0,
      output: numberFrom(raw['completion_tokens']) ?? 0,
    },
    raw,
  };
}

const million = 1_000_000;

/** Returns the highest of several prices; `undefined` if none is above 0, because 0 means unknown. */
function highest(infos: readonly JsonObject[], ...names: readonly string[]): number | undefined {
  const prices = infos.flatMap((info) => names.map((name) => info[name])).filter(isNumber);
  const price = Math.max(0, ...prices);
  return price > 0 ? price : undefined;
}

const perMillion = (price: number | undefined): Amount | undefined =>
  price === undefined ? undefined : dollars(price * million);

/** Returns the price of a model group. Its deployments may differ; the highest price counts. */
function readPrice(model: string, deployments: readonly JsonObject[]): ModelPrice {
  const infos = deployments.map((deployment) => fieldsIn(deployment['model_info']));
  const find = (...names: readonly string[]) => highest(infos, ...names);
  const hasMode = (pattern: RegExp) =>
    infos.some(({ mode }) => pattern.test(trimmedText(mode) ?? ''));
  const isVideo = hasMode(/video/);
  const image = find('output_cost_per_image');
  // Of a video or an embedding, this is the price of an image in the request.
  const perCall = image ?? (hasMode(/image/) ? find('input_cost_per_image') : undefined);
  const perSecond = find(
    'output_cost_per_video_per_second',
    'output_cost_per_second',
    'input_cost_per_second',
  );
  const perCharacter = find('input_cost_per_character', 'output_cost_per_character');
  const input = find('input_cost_per_token');
  const imageInput = find('input_cost_per_image_token');
  const audioInput = find('input_cost_per_audio_token');
  const output = find('output_cost_per_token');
  const imageOutput = find('output_cost_per_image_token');
  const audioOutput = find('output_cost_per_audio_token');
  const tokens = [input, imageInput, audioInput, output, imageOutput, audioOutput];
  const hasTokens = tokens.some((price) => price !== undefined);
  const entry: ModelPrice = {
    model,
    billedPer: 'unknown',
    perCall: undefined,
    input: undefined,
    output: undefined,
    cachedInput: undefined,
    isMedia: isVideo || hasMode(/image/) || (image ?? imageOutput) !== undefined,
    groups: [],
    raw: { deployments },
  };
  if (isVideo && perSecond !== undefined) {
    return { ...entry, billedPer: 'second', perSecond: dollars(perSecond) };
  }
  if (perCall !== undefined && (isVideo || hasMode(/image/) || !hasTokens)) {
    return { ...entry, billedPer: 'call', perCall: dollars(perCall) };
  }
  if (hasTokens) {
    return {
      ...entry,
      billedPer: 'token',
      input: perMillion(input ?? imageInput ?? audioInput ?? 0),
      output: perMillion(output ?? imageOutput ?? audioOutput ?? 0),
      cachedInput: perMillion(find('cache_read_input_token_cost')),
      imageInput: perMillion(imageInput),
      imageOutput: perMillion(imageOutput),
      audioInput: perMillion(audioInput),
      audioOutput: perMillion(audioOutput),
    };
  }
  if (perCharacter !== undefined) {
    return { ...entry, billedPer: 'character', perCharacter: dollars(perCharacter) };
  }
  if (perSecond !== undefined) {
    return { ...entry, billedPer: 'second', perSecond: dollars(perSecond) };
  }
  return entry;
}

const account: AccountRules = {
  // If the database fails during a request, LiteLLM sends a plain 500 page without JSON.
  isUnsupported: ({ status, message }) =>
    (status === 500 && /^500 internal server error/i.test(message)) ||
    /no (connected db|db connected)|database not connected|prisma client is not initialized/i.test(
      message,
    ) ||
    /only proxy admin|not allowed to (access|call)/i.test(message),
  charge: {
    path: '/spend/logs?request_id={id}',
    read({ list }) {
      if (!Array.isArray(list)) return 'the response is not a list';
      const rows = listObjects(list);
      const entries = rows.map(readSpend).filter((entry) => entry !== undefined);
      return entries.length < rows.length ? 'an entry has no amount or no time' : entries;
    },
  },
  balance: [
    {
      paths: ['/key/info'],
      read(answer) {
        const info = fieldsIn(answer?.['info']);
        const { spend, max_budget: ownLimit, expires } = info;
        if (!isNumber(spend)) return 'the response contains no spend';
        const shared = fieldsIn(info['litellm_budget_table'])['max_budget'];
        const limit = [ownLimit, shared].find(isNumber);
        const end = Date.parse(trimmedText(expires) ?? '');
        return {
          used: dollars(spend),
          limit: limit === undefined ? undefined : dollars(limit),
          available: limit === undefined ? undefined : dollars(Math.max(0, limit - spend)),
          expiresAt: Number.isNaN(end) ? undefined : end,
        };
      },
    },
  ],
  prices: {
    path: '/model/info',
    read({ data }) {
      if (!Array.isArray(data)) return 'the response contains no list';
      const groups = new Map<string, JsonObject[]>();
      for (const deployment of listObjects(data)) {
        const name = trimmedText(deployment['model_name']);
        if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), deployment]);
      }
      const models = [...groups].map(([name, group]) => readPrice(name, group));
      return { models, groupRatios: {} };
    },
  },
};

/** The LiteLLM proxy. It runs on hosts of its users, so `auto` cannot recognize it. */
export const liteLLM: GatewayProfile = {
  name: 'litellm',
  paths: { 'embeddings.createForEngine': '/engines/{+model}/embeddings' },
  unsupported: {
    'audio.translations.create':
      'Use audio.transcriptions.create(), and let a chat model translate the text.',
    'videos.retrieveFromVendor': 'Use videos.retrieve() with the id of the task.',
  },
  requestIdHeaders: ['x-litellm-call-id', 'x-request-id', 'request-id'],
  sentIdHeader: 'x-litellm-call-id',
  readCost: costInAnswer,
  account,
};
