import { errorMessage } from '../../../answers/objects.ts';
import { GatewayError } from '../../../index.ts';
import { type Replacements, toProgramMessage, toProgramSummary } from '../../advice.ts';

/** Options of the library, and what an agent or the user of its server can do instead. */
const replacements: Replacements = [
  [/\bbaseURL\b/g, 'GATEWAY_BASE_URL'],
  [/\bset the option gateway\b/g, 'set GATEWAY_PROFILE'],
  [/\bcallId\b/g, 'call_id'],
  [/\bapiKey\b/g, 'GATEWAY_API_KEY'],
  [/\bmodels\.list\(\)/g, 'list_models'],
  [/\baccount\.settle\(error\)/g, 'check_charge'],
];

/** Returns the message of an error without the advice for programs: the result of the tool has its own. */
export const withoutAdvice = (error: unknown): string =>
  GatewayError.isInstance(error) ? toProgramSummary(error, replacements) : errorMessage(error);

/** Returns the message of an error with the advice that an agent or its user can follow. */
export const toAgentMessage = (error: unknown): string =>
  GatewayError.isInstance(error) ? toProgramMessage(error, replacements) : errorMessage(error);
