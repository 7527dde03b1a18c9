import { isObject } from '../answers/objects.ts';
import { check, checkReadable } from './check.ts';
import { misplacedError } from './option-names.ts';

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
    if (params[name] === undefined || params[name] === null) continue;
    const error = misplacedError(name, method);
    if (error !== undefined) throw error;
  }
}
