import { isObject } from '../answers/objects.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { check, checkReadable } from './check.ts';
import { misplacedOption } from './option-names.ts';

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Rejects parameters that are not an object, which plain JavaScript can pass, or that cannot be read, and options
 * among them.
 *
 * @throws `InvalidInputError` naming the field
 */
export function checkParams(method: string, params: unknown): void {
  check(isObject(params), 'params', `must be an object; see the parameters of ${method}().`);
  checkReadable(params);
  for (const name of Object.keys(params)) {
    const misplaced = misplacedOption(name);
    if (misplaced?.isRefused !== true || !isGiven(params[name])) continue;
    throw new InvalidInputError(name, misplaced.advice(method));
  }
}

const none: readonly string[] = [];

/** Returns a warning for each option among parameters that is sent, because some gateways know such a parameter. */
export function warnOfOptions(params: unknown): readonly string[] {
  if (!isObject(params)) return none;
  let warnings = none;
  for (const name of Object.keys(params)) {
    const misplaced = misplacedOption(name);
    if (misplaced === undefined || misplaced.isRefused || !isGiven(params[name])) continue;
    const warning = `The parameter "${name}" is sent to the gateway and is no option there: put the option into the argument after the parameters`;
    warnings = [...warnings, warning];
  }
  return warnings;
}
