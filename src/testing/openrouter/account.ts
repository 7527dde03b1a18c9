import type { JsonObject } from '../../types.ts';
import type { LogEntry } from '../control/usage-log.ts';
import { text } from '../control/json.ts';
import type { World } from '../server/call.ts';
import { notFound } from './errors.ts';
import { unitsPerDollar } from './usage.ts';

/** Returns the spending in US dollars. */
function usedDollars({ tasks, ledger }: World): number {
  tasks.settle();
  return ledger.total / unitsPerDollar;
}

/** `GET /api/v1/credits`. */
export function readCredits(world: World): unknown {
  const total = Number.isFinite(world.credit) ? world.credit / unitsPerDollar : 1_000;
  return { data: { total_credits: total, total_usage: usedDollars(world) } };
}

/** `GET /api/v1/key`. */
export function readKey(world: World): unknown {
  const usage = usedDollars(world);
  const limit = Number.isFinite(world.credit) ? world.credit / unitsPerDollar : null;
  return {
    data: {
      label: 'sk-or-v1-emu...tor',
      limit,
      limit_remaining: limit === null ? null : limit - usage,
      limit_reset: null,
      usage,
      usage_daily: usage,
      usage_weekly: usage,
      usage_monthly: usage,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      free_model_daily_requests: { limit: 1_000, remaining: 1_000, used: 0 },
      rate_limit: { interval: '10s', note: 'Deprecated and safe to ignore.', requests: -1 },
      allowed_data_regions: ['global'],
      creator_user_id: null,
      organization_id: null,
      workspace_id: null,
      expires_at: null,
    },
  };
}

/** Fields of a generation that the emulator does not simulate. */
const unknown = {
  app_id: null,
  cache_discount: null,
  external_user: null,
  generation_time: null,
  http_referer: null,
  latency: null,
  moderation_latency: null,
  native_finish_reason: null,
  native_tokens_cached: null,
  native_tokens_completion_images: null,
  native_tokens_reasoning: null,
  num_fetches: null,
  num_input_audio_prompt: null,
  num_media_completion: null,
  num_media_prompt: null,
  num_search_results: null,
  preset_id: null,
  provider_responses: null,
  router: null,
  service_tier: null,
  upstream_id: null,
  upstream_inference_cost: null,
  user_agent: null,
  web_search_engine: null,
  workspace_id: null,
};

function generation(id: string, line: LogEntry, isRefunded: boolean): JsonObject {
  const { tokens: [prompt, completion] = [null, null] } = line;
  const cost = isRefunded ? 0 : line.quota / unitsPerDollar;
  return {
    ...unknown,
    id,
    api_type:
      /\/(videos|images)/.exec(text(line.other['request_path']) ?? '')?.[1] ?? 'completions',
    model: line.model,
    created_at: new Date(line.at).toISOString(),
    data_region: 'global',
    provider_name: 'Emulator',
    origin: '',
    is_byok: false,
    streamed: line.isStream ?? false,
    cancelled: false,
    finish_reason: 'stop',
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    total_cost: cost,
    usage: cost,
  };
}

/** `GET /api/v1/generation?id=`. Entries appear with the delay of the quirk `usageLogDelay`. */
export function readGeneration(world: World, id: string): Response {
  const { ledger, clock, quirks, tasks } = world;
  tasks.settle();
  const line = ledger.usageLog.find(id, clock.now(), quirks.usageLogDelay);
  if (line === undefined) throw notFound(`Generation ${id} not found`);
  const charge = ledger.charges.find(({ requestId }) => requestId === id);
  const data = generation(id, line, charge?.refundedAt !== undefined);
  const headers = { date: new Date(clock.now()).toUTCString() };
  return Response.json({ data }, { headers });
}
