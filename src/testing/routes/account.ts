import { authenticate } from '../server/auth.ts';
import type { World } from '../server/call.ts';
import { Refusal } from '../server/errors.ts';
import { pricePerCall } from '../control/usage-log.ts';
import { present } from '../control/json.ts';
import { findVendor, pricedModels, type EmulatorModel } from '../control/models.ts';
import type { AccountQuirks } from '../faults/quirks.ts';

/** Reported balance of an unlimited key, in US dollars. */
const unlimited = 100_000_000;

/** Usage log units per US dollar. */
const perDollar = 500_000;

const groups = { default: 1, vip: 1 };

/** Returns the usage log: always the newest entries, regardless of the query. */
function readUsageLog({ clock, ledger, quirks, tasks }: World): Response {
  tasks.settle();
  const { usageLogEntries: most, usageLogDelay: lag } = quirks;
  const data = ledger.usageLog.read(clock.now(), { most, lag });
  // The `date` header lets clients detect the offset of their own clock.
  const headers = { date: new Date(clock.now()).toUTCString() };
  return Response.json({ data, message: '', success: true }, { headers });
}

/** Returns the usage of the key, in usage log units. */
function readUsage({ credit, ledger, tasks }: World): Response {
  tasks.settle();
  const isLimited = Number.isFinite(credit);
  const granted = isLimited ? credit : 0;
  const data = {
    expires_at: 0,
    model_blacklist: {},
    model_blacklist_enabled: false,
    model_limits: {},
    model_limits_enabled: false,
    name: 'emulator',
    object: 'token_usage',
    total_available: granted - ledger.total,
    total_granted: granted,
    total_used: ledger.total,
    unlimited_quota: !isLimited,
  };
  return Response.json({ code: true, data, message: 'ok' });
}

function readSubscription({ credit }: World): Response {
  const limit = Number.isFinite(credit) ? credit / perDollar : unlimited;
  return Response.json({
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: 0,
  });
}

/** Returns the usage in hundredths of a US dollar, regardless of the dates. */
function readBilled({ ledger, tasks }: World): Response {
  tasks.settle();
  return Response.json({ object: 'list', total_usage: (ledger.total / perDollar) * 100 });
}

function isPaidPerCall({ id, type, vendor }: EmulatorModel): boolean {
  if (type === 'image' || type === 'video') return true;
  const makes = /^(kling|ali|vidu|hailuo|jimeng|doubao)$/;
  return makes.test(vendor ?? findVendor([], id) ?? '') || /image|imagen|dall-e|sora|veo/i.test(id);
}

function priceBody(model: EmulatorModel, index: number): unknown {
  const isPerCall = isPaidPerCall(model);
  return present({
    model_name: model.id,
    vendor_id: 1,
    quota_type: isPerCall ? 1 : 0,
    model_ratio: isPerCall ? 0 : 1,
    model_price: isPerCall ? pricePerCall : 0,
    owner_by: '',
    completion_ratio: isPerCall ? 0 : 1,
    cache_ratio: isPerCall ? undefined : 1,
    enable_groups: ['default'],
    supported_endpoint_types: model.supported_endpoint_types ?? ['openai'],
    pricing_version: index === 0 ? 'emulator' : undefined,
  });
}

const post = (path: string) => ({ path, method: 'POST' });

function readPrices({ models, strictModels }: World): Response {
  const priced = strictModels ? models : [...models, ...pricedModels];
  return Response.json({
    auto_groups: ['default'],
    data: priced.map((model, index) => priceBody(model, index)),
    group_model_ratio: {},
    group_ratio: groups,
    pricing_version: 'group-model-ratio-v1',
    success: true,
    supported_endpoint: {
      anthropic: post('/v1/messages'),
      gemini: post('/v1beta/models/{model}:generateContent'),
      'image-generation': post('/v1/images/generations'),
      openai: post('/v1/chat/completions'),
      'openai-video': post('/v1/video/generations'),
    },
    usable_group: { default: 'default', vip: 'vip' },
    vendors: [{ id: 1, name: 'Emulator', icon: 'Emulator' }],
  });
}

function readStatus(): Response {
  const data = { quota_per_unit: perDollar, system_name: 'New API', version: 'emulator' };
  return Response.json({ data, message: '', success: true });
}

interface AccountRoute {
  readonly kind: AccountQuirks['accountRoutes'][number];
  /** Counts as a read of the log, which has a rate limit. */
  readonly isCounted?: boolean;
  /** Error envelope for a missing key; if not set, no key is required. */
  readonly refusesAs?: 'console' | 'openai-routing';
  readonly answer: (world: World) => Response;
}

const consoleRoute = { isCounted: true, refusesAs: 'console' } as const;
const billing = { kind: 'billing', refusesAs: 'openai-routing' } as const;

const routes: Readonly<Record<string, AccountRoute>> = {
  '/api/log/token': { ...consoleRoute, kind: 'log', answer: readUsageLog },
  '/api/usage/token/': { ...consoleRoute, kind: 'usage', answer: readUsage },
  '/v1/dashboard/billing/subscription': { ...billing, answer: readSubscription },
  '/v1/dashboard/billing/usage': { ...billing, answer: readBilled },
  '/dashboard/billing/subscription': { ...billing, answer: readSubscription },
  '/dashboard/billing/usage': { ...billing, answer: readBilled },
  '/api/pricing': { kind: 'pricing', answer: readPrices },
  '/api/status': { kind: 'status', answer: readStatus },
};

/** Paths of the account routes. */
export const accountPaths: readonly string[] = [...Object.keys(routes), '/api/usage/token'];

function checkKey(request: Request, apiKey: string, envelope: 'console' | 'openai-routing'): void {
  try {
    authenticate(request, apiKey);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Error messages of the console contain no request id.
    const details = envelope === 'console' ? { ...error.details, type: 'console' } : error.details;
    throw new Refusal(error.status, envelope, details);
  }
}

/**
 * Handles requests about the account: usage log, balance and prices.
 *
 * @returns `undefined` if the gateway does not have the route
 */
export function answerAccountRoute(
  request: Request,
  world: World,
  apiKey: string,
): Response | undefined {
  const { pathname } = new URL(request.url);
  const { quirks, clock, ledger } = world;
  if (request.method !== 'GET') return undefined;
  if (pathname === '/api/usage/token' && quirks.accountRoutes.includes('usage')) {
    const location = '/api/usage/token/';
    const page = `<a href="${location}">Moved Permanently</a>.\n\n`;
    const headers = { location, 'content-type': 'text/html; charset=utf-8' };
    return new Response(page, { status: 301, headers });
  }
  const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
  if (route === undefined || !quirks.accountRoutes.includes(route.kind)) return undefined;
  // The rate limit applies per address, before the key is checked.
  if (route.isCounted && !ledger.usageLog.mayRead(clock.now(), quirks.usageLogLimit)) {
    return new Response(null, { status: 429 });
  }
  if (route.refusesAs !== undefined) checkKey(request, apiKey, route.refusesAs);
  return route.answer(world);
}
