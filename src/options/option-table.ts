import {
  check,
  checkBoolean,
  checkDuration,
  checkFunction,
  checkInteger,
  checkLimit,
  checkNumber,
  checkObject,
  checkReadable,
  checkSignal,
  checkText,
  checkWord,
} from './check.ts';
import { checkFallback, checkReasons } from './fallback.ts';
import { checkIdempotency } from './idempotency.ts';
import { intervalFrom } from './interval.ts';
import { methods, type Method } from './methods.ts';

/** An option of some methods. */
export interface Option<Value = unknown> {
  /**
   * Returns the value if it is valid.
   *
   * @throws `InvalidInputError` naming the field
   */
  readonly check: (field: string, value: unknown) => Value;
  /** The value of an option that is not set. */
  readonly default?: Value;
  /**
   * `value` if `null` has its own meaning or is rejected; `unset` if it counts as not set, as in `openai`.
   * `callId` and `idempotencyKey` reject it, because a repeated job with a new id could be charged twice, and
   * limits of waits because it could mean no limit.
   */
  readonly null: 'unset' | 'value';
  /** Names of other packages for it, in lower case without `-` and `_`. */
  readonly aliases?: readonly string[];
  readonly methods: readonly Method[];
  /**
   * What happens if it is passed to another method. Options that concern money or limits are refused, because
   * the caller relies on them.
   */
  readonly elsewhere: 'refuse' | 'warn';
  /**
   * What happens if it stands among the parameters of a call. It is refused, because it would do nothing there,
   * unless some gateways know a parameter of that name (`warn`) or this package does (`allow`).
   */
  readonly asParameter?: 'warn' | 'allow';
}

/** Every option by its name; several entries if its meaning depends on the method. */
export type OptionTable = Readonly<Record<string, Option | readonly Option[]>>;

/** Accepts any value, which is checked where it is used. */
const any = (_field: string, value: unknown): unknown => value;

/** Returns the check of a value whose type the compiler knows. */
const checked =
  (checkValue: (field: string, value: unknown) => void) =>
  (field: string, value: unknown): unknown => {
    checkValue(field, value);
    return value;
  };

const word =
  <const Word extends string>(...words: readonly Word[]) =>
  (field: string, value: unknown): Word =>
    checkWord(field, value, words);

const wholeFrom =
  (smallest: number, largest?: number) =>
  (field: string, value: unknown): number =>
    checkInteger(field, value, smallest, largest);

const duration = (field: string, value: unknown): number => checkDuration(field, value);
const object = checked(checkObject);
const callback = checked(checkFunction);

/** Checks headers, which may be a list of pairs. Each header is checked when it is added to a request. */
const headers = checked((field, value) => {
  if (!Array.isArray(value)) checkObject(field, value);
});

const extraBody = checked((field, value) => {
  checkObject(field, value);
  if (typeof value === 'object' && value !== null) checkReadable(value, `${field}.`);
});

const ledger = checked((field, value) => {
  for (const method of ['claim', 'accept', 'finish', 'entry']) {
    const hasMethod = typeof Reflect.get(Object(value), method) === 'function';
    check(hasMethod, field, `has no method ${method}(); pass a SubmitLedger.`);
  }
});

/** The longest text that Node and Chromium can hold. */
const longestText = 536_870_888;

const refuse = { null: 'unset', elsewhere: 'refuse' } as const;
const warn = { null: 'unset', elsewhere: 'warn' } as const;
const warnWithNull = { null: 'value', elsewhere: 'warn' } as const;
const refuseWithNull = { null: 'value', elsewhere: 'refuse' } as const;

const alsoParameter = { asParameter: 'warn' } as const;

const { client, calls, requests, waits, videoRuns } = methods;
const clientAndCalls = [...client, ...calls] as const;
const clientAndRequests = [...client, ...requests] as const;
const waiting = [...waits, ...videoRuns] as const;
/**
 * Every option of a client and of its methods: the names, checks, defaults and methods. The settings of calls,
 * the refusals and the table in the guide come from it, and the types are tested against it.
 */
export const optionTable = {
  // Only a warning for these in a call: LangChain passes those of its own client.
  apiKey: { ...warnWithNull, check: any, aliases: ['key', 'token'], methods: client },
  baseURL: {
    ...warnWithNull,
    check: any,
    aliases: ['url', 'endpoint', 'basepath'],
    methods: client,
  },
  gateway: { ...warnWithNull, ...alsoParameter, check: any, methods: client },
  organization: { ...warnWithNull, ...alsoParameter, check: any, methods: client },
  project: { ...warnWithNull, ...alsoParameter, check: any, methods: client },
  maxRetries: {
    ...refuse,
    check: wholeFrom(0, 100),
    default: 2,
    aliases: ['retries', 'retry', 'maxretry', 'maxattempts'],
    methods: clientAndCalls,
  },
  timeout: [
    {
      ...refuse,
      ...alsoParameter,
      check: duration,
      default: 600_000,
      aliases: ['requesttimeout', 'timeoutms', 'timeoutseconds'],
      // Waits have a time limit of their own.
      methods: [...client, ...methods.attempts],
    },
    {
      ...refuseWithNull,
      check: checkLimit,
      default: 1_800_000,
      methods: [...methods.videoWaits, ...methods.manyWaits, ...videoRuns],
    },
    { ...refuseWithNull, check: checkLimit, default: 600_000, methods: methods.imageWaits },
  ],
  firstByteTimeout: {
    ...refuseWithNull,
    check: checkLimit,
    default: 300_000,
    methods: clientAndRequests,
  },
  idleTimeout: {
    ...refuseWithNull,
    check: checkLimit,
    default: 300_000,
    methods: clientAndRequests,
  },
  chunkTimeout: { ...refuseWithNull, check: checkLimit, default: null, methods: clientAndRequests },
  totalTimeout: { ...refuseWithNull, check: checkLimit, default: null, methods: clientAndRequests },
  retryUnknownOutcome: { ...refuse, check: checkBoolean, methods: clientAndRequests },
  idempotency: {
    ...refuseWithNull,
    check: checkIdempotency,
    default: null,
    methods: clientAndRequests,
  },
  idempotencyKey: { ...refuseWithNull, check: any, methods: methods.keyed },
  fallback: {
    ...refuseWithNull,
    check: checkFallback,
    default: null,
    aliases: ['fallbacks', 'fallbackmodels'],
    methods: [...client, ...methods.withFallback],
  },
  fallbackOn: {
    ...warn,
    check: checkReasons,
    default: ['limits', 'model', 'context', 'overload', 'timeout'],
    methods: [...client, ...methods.withFallback],
  },
  onFallback: { ...warn, check: callback, methods: [...client, ...methods.withFallback] },
  structuredOutput: {
    ...warn,
    check: word('auto', 'json_schema', 'json_object', 'prompt'),
    default: 'auto',
    methods: clientAndRequests,
  },
  onTruncated: {
    ...warn,
    check: word('throw', 'warn', 'allow'),
    default: 'throw',
    methods: clientAndRequests,
  },
  maxEventBytes: {
    ...refuse,
    check: wholeFrom(1_024, 1_073_741_824),
    default: 134_217_728,
    methods: clientAndRequests,
  },
  maxResponseBytes: {
    ...refuse,
    check: wholeFrom(1_024, longestText),
    default: 134_217_728,
    methods: clientAndCalls,
  },
  partial: {
    ...warn,
    ...alsoParameter,
    check: checkBoolean,
    default: true,
    methods: clientAndRequests,
  },
  validation: {
    ...warn,
    ...alsoParameter,
    check: word('tolerant', 'strict', 'off'),
    default: 'tolerant',
    methods: clientAndCalls,
  },
  onDrift: { ...warn, check: callback, methods: client },
  bodyFormat: {
    ...refuse,
    check: word('form', 'json'),
    methods: [...client, ...methods.submissions],
  },
  budget: { ...refuseWithNull, check: any, methods: client },
  limits: { ...refuse, check: any, methods: client },
  retryBudget: {
    ...refuseWithNull,
    check: (field: string, value: unknown) =>
      value === null ? null : checkInteger(field, value, 0),
    default: 100,
    methods: client,
  },
  observer: { ...warn, check: any, methods: client },
  onRequest: { ...warn, check: any, methods: client },
  onResponse: { ...warn, check: any, methods: client },
  defaultHeaders: { ...warn, check: any, aliases: ['headers', 'extraheaders'], methods: client },
  headers: { ...warn, ...alsoParameter, check: headers, aliases: ['extraheaders'], methods: calls },
  defaultQuery: { ...warn, check: any, aliases: ['query', 'extraquery'], methods: client },
  query: { ...warn, ...alsoParameter, check: object, aliases: ['extraquery'], methods: calls },
  extraBody: { ...refuse, check: extraBody, methods: methods.posts },
  signal: {
    ...refuse,
    check: checked((_, value) => checkSignal(value)),
    aliases: ['abortsignal', 'abortcontroller'],
    methods: [...calls, ...methods.account],
  },
  callId: {
    ...warnWithNull,
    check: (field: string, value: unknown) => checkText(field, value, 'the id of your job'),
    methods: requests,
  },
  taskTimeout: { ...refuseWithNull, check: checkLimit, default: 600_000, methods: methods.images },
  onSubmitted: { ...refuse, check: callback, methods: methods.tasks },
  ledger: { ...refuseWithNull, check: ledger, methods: methods.withLedger },
  onUnknown: {
    ...refuseWithNull,
    check: word('fail', 'resubmit', 'settle'),
    default: 'fail',
    methods: methods.withLedger,
  },
  interval: [
    {
      ...refuseWithNull,
      ...alsoParameter,
      check: intervalFrom(5_000),
      default: intervalFrom(5_000)('interval', {}),
      methods: [...methods.videoWaits, ...methods.manyWaits, ...videoRuns],
    },
    {
      ...refuseWithNull,
      check: intervalFrom(2_000),
      default: intervalFrom(2_000)('interval', {}),
      methods: methods.imageWaits,
    },
  ],
  pollTimeout: { ...refuseWithNull, check: duration, default: 30_000, methods: waiting },
  maxConsecutiveErrors: {
    ...refuseWithNull,
    check: (field: string, value: unknown) => Math.floor(checkNumber(field, value, 0, 1_000)),
    default: 10,
    methods: waiting,
  },
  onUpdate: { ...warn, check: callback, methods: waiting },
  maxPollsPerSecond: {
    ...refuse,
    check: (field: string, value: unknown) => checkNumber(field, value, 0.001, 100_000),
    default: 10,
    methods: methods.limited,
  },
  concurrency: { ...refuse, check: wholeFrom(1), default: 4, methods: methods.many },
  batchSize: { ...refuse, check: wholeFrom(1), default: 100, methods: methods.manyEmbeddings },
  onProgress: { ...warn, check: callback, methods: methods.many },
  maxChatCompletions: {
    ...refuse,
    check: wholeFrom(1, 1_000_000),
    default: 10,
    aliases: ['maxturns', 'maxsteps', 'maxcalls'],
    methods: ['chat.completions.runTools'],
  },
  afterCompletion: { ...warn, check: callback, methods: ['chat.completions.runTools'] },
  maxCalls: {
    ...refuse,
    check: wholeFrom(1, 1_000_000),
    default: 10,
    aliases: ['maxturns', 'maxsteps', 'maxchatcompletions'],
    methods: ['generate.runTools'],
  },
  onContent: { ...warn, check: callback, methods: ['generate.runTools'] },
  onUploadProgress: { ...warn, check: callback, methods: methods.withFiles },
  variant: { ...warn, ...alsoParameter, check: any, methods: ['videos.downloadContent'] },
  resultURL: { ...warn, check: checkBoolean, methods: ['videos.downloadContent'] },
  maxAge: {
    ...warn,
    check: (field: string, value: unknown) => checkDuration(field, value, 0),
    methods: methods.account,
  },
  path: { ...refuse, ...alsoParameter, check: any, methods: methods.routes },
  method: { ...refuse, ...alsoParameter, check: any, methods: methods.routes },
  body: { ...refuse, ...alsoParameter, check: any, methods: methods.routes },
  stream: { ...warn, asParameter: 'allow', check: any, methods: methods.routes },
  fetch: { ...warn, check: callback, methods: client },
  fetchOptions: {
    ...warn,
    check: object,
    aliases: ['httpagent', 'httpsagent', 'dispatcher'],
    methods: clientAndCalls,
  },
  logger: { ...warn, check: any, methods: client },
  logLevel: { ...warn, check: any, aliases: ['log'], methods: client },
  dangerouslyAllowBrowser: { ...warn, check: any, methods: client },
} as const satisfies OptionTable;

type Table = typeof optionTable;

export type OptionName = keyof Table;

type EntriesOf<Name extends OptionName> = Table[Name] extends readonly (infer Entry)[]
  ? Entry
  : Table[Name];

type EntryFor<Entry, M extends Method> = Entry extends { readonly methods: readonly (infer Own)[] }
  ? M extends Own
    ? Entry
    : never
  : never;

export type NameFor<M extends Method> = {
  [Name in OptionName]: [EntryFor<EntriesOf<Name>, M>] extends [never] ? never : Name;
}[OptionName];

type ReturnOf<Entry> = Entry extends { readonly check: (...args: never) => infer Value }
  ? Value
  : never;

/** The value of an option of a method after its check, with its default. */
type ValueFor<Name extends OptionName, M extends Method> =
  EntryFor<EntriesOf<Name>, M> extends { readonly default: unknown }
    ? ReturnOf<EntryFor<EntriesOf<Name>, M>>
    : ReturnOf<EntryFor<EntriesOf<Name>, M>> | undefined;

/** The options that a client has too, with the same meaning: their defaults are those of the client. */
type SharedName<M extends Method> = M extends 'client'
  ? never
  : {
      [Name in OptionName]: 'client' extends EntryFor<EntriesOf<Name>, M>['methods'][number]
        ? Name
        : never;
    }[OptionName];

/** The names of the options whose check determines their type. */
type TypedName<M extends Method> = {
  [Name in NameFor<M>]: unknown extends ValueFor<Name, M> ? never : Name;
}[NameFor<M>];

/** The options of a method after their checks, with their defaults, but without those of the client. */
export type ResolvedFor<M extends Method> = {
  readonly [Name in Exclude<TypedName<M>, SharedName<M>>]: ValueFor<Name, M>;
};

/** A policy around the calls of a client, with the options that have an effect only with it. */
interface PolicyRow {
  readonly options: readonly string[];
  /** How a client of `createGateway()` gets the policy. */
  readonly advice?: string;
}

/**
 * The policies of this package and their options. The order is that around a call, the outermost first, whatever the
 * order in the list of the caller.
 */
export const policyTable = {
  spending: { options: ['budget'], advice: 'prices, so add account: Account to the resources' },
  log: { options: [] },
  observers: {
    options: ['observer', 'onRequest', 'onResponse'],
    advice: 'withObservers() in the policies',
  },
  'tracing-channel': { options: [] },
  limits: { options: ['limits'], advice: 'withLimits() in the policies' },
  fallback: {
    options: ['fallback', 'fallbackOn', 'onFallback'],
    advice: 'withFallback() in the policies',
  },
  'output-modes': { options: ['structuredOutput'], advice: 'withOutputModes() in the policies' },
} as const satisfies Readonly<Record<string, PolicyRow>>;

type Policies = typeof policyTable;

export type OptionOf<Name extends keyof Policies = keyof Policies> =
  Policies[Name]['options'][number];

const rows = Object.entries<PolicyRow>(policyTable);

/** Returns the place of a policy among others. Those of a caller are inside of those of this package. */
export function getPlace(name: string): number {
  const place = rows.findIndex(([known]) => known === name);
  return place === -1 ? rows.length : place;
}

/** Returns the options that no policy in the list has, each with the way to add its policy. */
export function listMissing(
  policies: readonly { readonly options: readonly string[] }[],
): ReadonlyMap<string, string> {
  const known = new Set(policies.flatMap(({ options }) => options));
  return new Map(
    rows.flatMap(([, { options, advice = '' }]) =>
      options
        .filter((option) => !known.has(option))
        .map((option): [string, string] => [option, advice]),
    ),
  );
}
