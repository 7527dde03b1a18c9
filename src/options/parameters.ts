import { isObject } from '../answers/objects.ts';
import { check, checkReadable } from './check.ts';
import { misplaced, misplacedError } from './option-names.ts';

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
    // Parameters in snake case are those of gateways, even if they resemble an option.
    const mayBeOption =
      misplaced.get(name) === 'refuse' || (/[A-Z]/.test(name) && !misplaced.has(name));
    if (!mayBeOption || params[name] === undefined || params[name] === null) continue;
    const error = misplacedError(name, method);
    if (error !== undefined) throw error;
  }
}
