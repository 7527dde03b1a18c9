import { editDistance } from '../answers/similar-names.ts';
import { check } from './check.ts';
import { type Method, methods } from './methods.ts';
import { type Option, optionTable, type OptionName } from './option-table.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** Request parameters that other packages accept as options. */
const parameters =
  'model messages prompt input temperature top_p max_tokens max_completion_tokens max_output_tokens tools tool_choice response_format reasoning_effort seed stop size seconds'.split(
    ' ',
  );

/** The names of all options. */
export const optionNames = Object.keys(optionTable).filter(isName);

export function isName(name: string): name is OptionName {
  return Object.hasOwn(optionTable, name);
}

const entriesOf = (name: OptionName): readonly Option[] => [optionTable[name]].flat();

/** The options of each method that was called. */
const known = new Map<Method, ReadonlyMap<string, Option>>();

export function optionsOf(method: Method): ReadonlyMap<string, Option> {
  const found = known.get(method);
  if (found !== undefined) return found;
  const options = new Map<string, Option>();
  for (const name of optionNames) {
    const entry = entriesOf(name).find((option) => option.methods.includes(method));
    if (entry !== undefined) options.set(name, entry);
  }
  known.set(method, options);
  return options;
}

/** The options that only a client has. */
const isOfClient = (name: OptionName): boolean =>
  entriesOf(name).every((option) => option.methods.every((method) => method === 'client'));

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');

/** The names of other packages for each option. */
const aliases = new Map(
  optionNames.map((name) => [name, entriesOf(name).flatMap((option) => option.aliases ?? [])]),
);

/** Returns the first option among `candidates` that another package names like this. */
const findAlias = (alias: string, candidates: readonly OptionName[]): OptionName | undefined =>
  candidates.find((name) => aliases.get(name)?.includes(alias));

/** Returns the option among `candidates` that an unknown name probably means. */
function nearest(name: string, candidates: readonly OptionName[]): OptionName | undefined {
  const wanted = plain(name);
  const alias = findAlias(wanted, candidates);
  if (alias !== undefined) return alias;
  let least = Math.floor(wanted.length / 4) + 1;
  let found: OptionName | undefined;
  for (const candidate of candidates) {
    const changes = editDistance(wanted, plain(candidate));
    if (changes < least) [least, found] = [changes, candidate];
  }
  return found;
}

/** Returns the option that an unknown name probably means, first among those of the method. */
function meantBy(name: string, method: Method): OptionName | undefined {
  const ofMethod = optionNames.filter((option) => optionsOf(method).has(option));
  const found = nearest(name, ofMethod);
  if (found !== undefined || method === 'client') return found;
  const ofCalls = optionNames.filter((option) => !isOfClient(option));
  return nearest(name, ofCalls);
}

/** The options that are none among parameters: refused, or sent because some gateways know such a parameter. */
export const misplaced: ReadonlyMap<string, 'refuse' | 'warn'> = new Map(
  optionNames.flatMap((name) => {
    const use = entriesOf(name).find(({ asParameter }) => asParameter !== undefined)?.asParameter;
    return use === 'allow' ? [] : [[name, use ?? 'refuse'] as const];
  }),
);

/**
 * Returns the error for an option among the parameters of a method, where it would do nothing; `undefined` if the
 * name is that of a parameter.
 */
export function misplacedError(name: string, method: string): InvalidInputError | undefined {
  // Parameters in snake case are those of gateways, even if they resemble an option.
  const alias = /[A-Z]/.test(name) ? findAlias(name.toLowerCase(), optionNames) : undefined;
  const option = misplaced.has(name) ? name : alias;
  if (option === undefined || misplaced.get(option) !== 'refuse' || !isName(option))
    return undefined;
  const meant = option === name ? 'it' : option;
  const place = method === 'videos.remix' ? 'third' : 'second';
  const advice = isOfClient(option)
    ? `is an option of the client, not a parameter of ${method}; pass ${meant} to the constructor or withOptions().`
    : `is an option, not a parameter; put ${meant} into the ${place} argument of ${method}().`;
  return new InvalidInputError(name, advice);
}

/** Returns the warning for an option among parameters that is sent. */
export const misplacedWarning = (name: string): string =>
  `The parameter "${name}" is sent to the gateway and is no option there: an option belongs into the argument after the parameters`;

const isIn = (list: readonly Method[], method: Method): boolean => list.includes(method);

/** Returns why a method cannot use an option, and what to do. */
function reasonAgainst(name: OptionName, method: Method, label: string): string {
  if (method === 'client') return `is an option of a call, not of a client.`;
  if (isOfClient(name)) return `is an option of the client, not of ${label}; use withOptions().`;
  if (name === 'path' || name === 'method' || name === 'body') {
    return `is fixed for ${label}; use client.request({ method, path, body }).`;
  }
  const unusable = `cannot be used for ${label}`;
  if (name === 'idempotencyKey' && isIn(methods.many, method)) {
    return 'would be shared by different requests; omit it, and each request gets its own.';
  }
  if (name === 'fallback') {
    const why = label.startsWith('embeddings.')
      ? 'vectors of two models cannot be compared'
      : 'its request has no model to replace';
    return `${unusable}: ${why}; omit it.`;
  }
  if (name === 'extraBody' && method !== 'account') {
    return 'cannot be sent with GET; use query instead.';
  }
  const isLimit = name === 'totalTimeout' || name === 'taskTimeout';
  if (isLimit && optionsOf(method).has('timeout')) {
    const what = optionsOf(method).has('interval') ? 'the limit of the whole wait' : 'its limit';
    return `${unusable}; use timeout, ${what}.`;
  }
  const instead = name === 'maxCalls' ? 'maxChatCompletions' : 'maxCalls';
  if (/^max(Calls|ChatCompletions)$/.test(name) && optionsOf(method).has(instead)) {
    return `${unusable}; use ${instead}.`;
  }
  if (name === 'onSubmitted' && isIn(methods.submissions, method)) {
    return `${unusable}, which returns the task; store task.ref.`;
  }
  return `${unusable}; omit it.`;
}

/** Returns whether an object has a parameter of this name, in any spelling. */
function hasParameter(params: object, name: string): boolean {
  const wanted = plain(name);
  return Object.entries(params).some(
    ([parameter, value]) => value !== undefined && plain(parameter) === wanted,
  );
}

/**
 * Checks the name of an option that the method does not have.
 *
 * @param operation - The name of the method for messages.
 * @param params - The parameters of the call. LangChain passes some of them as options too.
 * @returns A warning about an option without effect; `undefined` if the name belongs to a wrapper library.
 * @throws `InvalidInputError` for a misspelt option, the name of a parameter, or an option that concerns money
 * or limits
 */
export function checkForeignName(
  name: string,
  value: unknown,
  method: Method,
  operation: string,
  params: object,
): string | undefined {
  // Private options of wrapper libraries, such as `__metadata`.
  if (name.startsWith('_')) return undefined;
  const label = method === 'account' ? 'account' : operation;
  const where = method === 'client' ? 'a client' : 'a call';
  const alias = nearestAlias(name, method);
  const isKnown = isName(name) && alias === undefined;
  const refuses = isKnown && entriesOf(name).some(({ elsewhere }) => elsewhere === 'refuse');
  if (!refuses && hasParameter(params, name)) return undefined;
  if (isKnown) {
    if (value === null) return undefined;
    check(!refuses, name, reasonAgainst(name, method, label));
    if (method === 'client') {
      return `The option "${name}" of a client has no effect: it is an option of a call`;
    }
    const isClient = isOfClient(name);
    return isClient
      ? `The option "${name}" of a call has no effect: it is an option of the client; use withOptions()`
      : `The option "${name}" has no effect for ${label}`;
  }
  const meant = alias ?? meantBy(name, method);
  if (meant !== undefined) {
    throw new InvalidInputError(name, `is not an option of ${where}; use ${meant}.`);
  }
  const parameter = parameters.find((parameterName) => plain(parameterName) === plain(name));
  if (parameter !== undefined && method !== 'client') {
    // An empty list asks for nothing.
    if (Array.isArray(value) && value.length === 0) return undefined;
    const problem = `is not an option; put ${parameter} into the parameters, which come first.`;
    throw new InvalidInputError(name, problem);
  }
  return `The option "${name}" of ${where} has no effect: it is unknown`;
}

/** Returns the option of a client that has this name of an option of calls as an alias. */
function nearestAlias(name: string, method: Method): OptionName | undefined {
  const ofClient = optionsOf('client');
  if (method !== 'client' || ofClient.has(name)) return undefined;
  return findAlias(
    plain(name),
    optionNames.filter((candidate) => ofClient.has(candidate)),
  );
}
