import { isObject } from '../answers/objects.ts';
import { check, checkReadable } from './check.ts';
import { refuseOptions } from './option-names.ts';

/**
 * Rejects parameters that are not an object, which plain JavaScript can pass, or that cannot be read, and options
 * among them.
 *
 * @throws `InvalidInputError` naming the field
 */
export function checkParams(method: string, params: unknown): void {
  check(isObject(params), 'params', `must be an object; see the parameters of ${method}().`);
  checkReadable(params);
  refuseOptions(method, params);
}
