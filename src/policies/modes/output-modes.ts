import type { OpenResponse } from '../../calls/open-response.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import { type Send, sendEach } from '../../calls/send-each.ts';
import { requireBase } from '../../calls/settings.ts';
import { type Policy, thisCopy } from '../../calls/transport.ts';
import type { GatewayPolicy, OutputMode } from '../../options/options.ts';
import { type OptionOf, policyTable } from '../../options/option-table.ts';
import { sendOptional } from './optional-parameters.ts';
import { refusesStructuredOutput } from './refusal.ts';

/** The modes that worked after the provider rejected the first one, by client and its copies: gateway and model. */
const learned = new WeakMap<object, Map<string, OutputMode>>();

export const outputModes: Policy<OptionOf<'output-modes'>> = {
  name: 'output-modes',
  copy: thisCopy,
  options: policyTable['output-modes'].options,
  asks: (_client, _options, { output, optional }) => Boolean(output ?? optional),
  wrap: (next) => (request) => sendInModes((each) => sendOptional(next, each), request),
};

/**
 * Requests JSON in the mode of the option `structuredOutput`, and in the next mode after the provider rejected
 * one. Also sends streams of chat again without `stream_options` after a provider rejected those. Without this policy,
 * both are always sent to the provider.
 *
 * Starts with the mode that worked for the model before. Copies of a client share what they learned.
 */
export const withOutputModes = (): GatewayPolicy<OptionOf<'output-modes'>> => outputModes;

function sendInModes<T>(next: Send, request: GatewayRequest<T>): Promise<OpenResponse<T>> {
  const { output: rules } = request.source;
  if (rules === undefined) return next(request);
  const { client, settings, params } = request;
  const { structuredOutput: setting, retryUnknownOutcome } = settings;
  const isAuto = setting === 'auto';
  // Otherwise a request must not be repeated after an error with a success status.
  const mayRepeat = retryUnknownOutcome !== false;
  const model = String(params['model']);
  const known = learned.get(client.shared) ?? new Map<string, OutputMode>();
  learned.set(client.shared, known);
  const key = `${requireBase(client).root} ${rules.kind} ${model}`;
  const findNext = (mode: OutputMode): OutputMode | undefined =>
    isAuto ? rules.order[rules.order.indexOf(mode) + 1] : undefined;
  /** Some gateways return a provider's rejection as the first event of a stream with status 200. */
  const inMode = (mode: OutputMode): GatewayRequest<T> => {
    const asking = mode === 'json_schema' ? request : request.with({ output: mode });
    return asking.holding(() => findNext(mode) !== undefined && mayRepeat);
  };
  const first = isAuto ? (known.get(key) ?? 'json_schema') : setting;
  return sendEach(next, inMode(first), {
    next({ failure, change }) {
      const mode = findNext(change.output ?? 'json_schema');
      if (mode === undefined || failure === undefined) return undefined;
      const mayFollow = failure.kind === 'refused' || mayRepeat;
      if (!mayFollow || !refusesStructuredOutput(failure)) return undefined;
      known.delete(key);
      const details = { model, mode };
      client.log.write('info', 'Structured output was rejected; the next mode is used', details);
      return inMode(mode);
    },
    reading({ output }) {
      if (isAuto && output !== undefined) known.set(key, output);
    },
  });
}
