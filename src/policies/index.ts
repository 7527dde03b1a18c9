import { fallback, withFallback } from './fallback/fallback.ts';
import { limits, withLimits } from './limits/limit-call.ts';
import { outputModes, withOutputModes } from './modes/output-modes.ts';
import { observing, withObservers } from './observing/observe.ts';

export { withFallback, withLimits, withObservers, withOutputModes };

/**
 * The policies of `Gateway` with an option. Their order is that of `policyTable`. The default, so that `core.ts` exports
 * all but this list.
 */
export default [fallback, outputModes, limits, observing];
