import { InvalidInputError } from '../errors/gateway-error.ts';

const words = (text: string): readonly string[] => text.split(' ');

const shared = words(
  'maxRetries timeout firstByteTimeout idleTimeout chunkTimeout totalTimeout retryUnknownOutcome idempotency fallback fallbackOn onFallback structuredOutput onTruncated maxEventBytes maxResponseBytes partial validation fetchOptions bodyFormat',
);

/** Names of options, and the names that other packages use for them, in lower case. */
const kinds = {
  client: {
    names: words(
      'apiKey baseURL gateway organization project defaultHeaders defaultQuery fetch logger logLevel dangerouslyAllowBrowser budget limits onDrift observer onRequest onResponse',
    ),
    aliases: {
      headers: 'defaultHeaders',
      extraheaders: 'defaultHeaders',
      query: 'defaultQuery',
      extraquery: 'defaultQuery',
      key: 'apiKey',
      token: 'apiKey',
      url: 'baseURL',
      endpoint: 'baseURL',
      basepath: 'baseURL',
      log: 'logLevel',
    },
  },
  // The options of all calls together, because calls pass their options on to other calls.
  call: {
    names: words(
      'signal headers query extraBody idempotencyKey callId onUploadProgress body stream method path maxChatCompletions afterCompletion maxCalls onContent batchSize concurrency onProgress interval pollTimeout notFoundGrace maxConsecutiveErrors unknownStatus onUpdate limiter allowOtherBaseURL maxPollsPerSecond ledger onUnknown onSubmitted taskTimeout variant maxAge',
    ),
    aliases: {
      abortsignal: 'signal',
      abortcontroller: 'signal',
      extraheaders: 'headers',
      extraquery: 'query',
      maxturns: 'maxChatCompletions',
      maxsteps: 'maxChatCompletions',
    },
  },
};

type Kind = keyof typeof kinds;

const aliases: Readonly<Record<string, string>> = {
  fallbacks: 'fallback',
  fallbackmodels: 'fallback',
  retries: 'maxRetries',
  retry: 'maxRetries',
  maxretry: 'maxRetries',
  maxattempts: 'maxRetries',
  requesttimeout: 'timeout',
  timeoutms: 'timeout',
  timeoutseconds: 'timeout',
  httpagent: 'fetchOptions',
  httpsagent: 'fetchOptions',
  dispatcher: 'fetchOptions',
};

/** Request parameters that other packages accept as options. */
const parameters = words(
  'model messages prompt input temperature top_p max_tokens max_completion_tokens max_output_tokens tools tool_choice response_format reasoning_effort seed stop size seconds',
);

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');

/** Returns the edit distance of two words, where swapping neighbouring letters counts as one edit. */
function distance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], []];
  for (let row = 0; row <= one.length; row += 1) {
    const costs = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      costs.push(
        row === 0
          ? column
          : Math.min(
              (last[column] ?? 0) + 1,
              (costs[column - 1] ?? 0) + 1,
              (last[column - 1] ?? 0) + (isSame ? 0 : 1),
              row > 1 && column > 1 && isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
            ),
      );
    }
    [beforeLast, last] = [last, costs];
  }
  return last[other.length] ?? 0;
}

/** Returns the option that an unknown name probably means. */
function nearest(name: string, kind: Kind): string | undefined {
  const wanted = plain(name);
  const own: Readonly<Record<string, string>> = { ...aliases, ...kinds[kind].aliases };
  if (Object.hasOwn(own, wanted)) return own[wanted];
  let least = Math.floor(wanted.length / 4) + 1;
  let found: string | undefined;
  for (const known of [...shared, ...kinds[kind].names]) {
    const changes = distance(wanted, plain(known));
    if (changes < least) [least, found] = [changes, known];
  }
  return found;
}

const isKnown = (name: string, kind: Kind): boolean =>
  shared.includes(name) || kinds[kind].names.includes(name);

/**
 * Checks the names of options.
 *
 * @returns The names without effect, each with a warning.
 * @throws `InvalidInputError` for a misspelt option, or the name of a parameter
 */
export function checkNames(options: object, kind: Kind): ReadonlyMap<string, string> {
  const ignored = new Map<string, string>();
  for (const [name, value] of Object.entries(options)) {
    // Skips options that are `undefined`, and private options of wrapper libraries, such as `__metadata`.
    if (value === undefined || name.startsWith('_') || isKnown(name, kind)) continue;
    const other = kind === 'client' ? 'call' : 'client';
    const isOther = isKnown(name, other) && !Object.hasOwn(kinds[kind].aliases, name);
    const meant = isOther ? undefined : nearest(name, kind);
    const where = kind === 'client' ? 'a client' : 'a call';
    if (meant !== undefined) {
      throw new InvalidInputError(name, `is not an option of ${where}; use ${meant}.`);
    }
    const parameter = parameters.find((known) => plain(known) === plain(name));
    if (parameter !== undefined && kind === 'call') {
      const problem = `is not an option; put ${parameter} into the parameters, which come first.`;
      throw new InvalidInputError(name, problem);
    }
    const advice = isOther
      ? `is an option of ${kind === 'client' ? 'a call' : 'the client; use withOptions()'}`
      : 'is unknown';
    ignored.set(name, `The option "${name}" of ${where} has no effect: it ${advice}`);
  }
  return ignored;
}
