import type { ErrorBody } from '../answers/failure.ts';
import { toFields } from '../answers/objects.ts';

/**
 * Headers, error types and messages that identify gateways. Every client checks all of them, because gateways
 * are chained and forward the responses of other gateways.
 */

/** Response headers that may contain the gateway's request id, in order of preference. */
export const requestIdHeaders = [
  'x-oneapi-request-id',
  'x-request-id',
  'request-id',
  'x-litellm-call-id',
  'apim-request-id',
  'x-amzn-requestid',
];

/** Names of models that make images, videos or music, also when a text operation requests them. */
export const mediaModel =
  /(?:^|[^a-z])(?:image|imagen|dall-?e|nano-banana|flux|stable-?diffusion|midjourney|seedream|ideogram|recraft|kolors|cogview|video|sora|veo|kling|hailuo|seedance|cogvideox?|runway|[ti]2[iv]|suno|lyria)(?:[^a-z]|$)/i;

/** Error types that show that the gateway itself rejected a key. */
export const keyRefusals =
  /^((new|one)_api_error|auth_error|token_not_found_in_db|expired_key|no_db_connection)$/;

/** Response headers of gateways that forward the errors of providers unchanged. */
const relayHeaders = ['x-oneapi-request-id', 'x-new-api-version', 'x-litellm-call-id'];

/** Returns whether a gateway with providers behind it sent a response. Servers without providers look like one. */
export const isRelayed = (headers: Headers | undefined): boolean =>
  relayHeaders.some((name) => headers?.has(name) === true);

/** Returns whether a gateway says that an error is a provider's: LiteLLM in the message, OpenRouter in the metadata. */
export function quotesProvider({ message = '', error }: ErrorBody): boolean {
  const { provider_name: provider } = toFields(toFields(error)['metadata']);
  return typeof provider === 'string' || message.startsWith('litellm.AuthenticationError: ');
}

/**
 * LiteLLM resends a form without its fields if the connection to the vendor breaks. The vendor may have done
 * the work by then, and rejects the second request because it has no model. Calls of this client always have a
 * model.
 */
export const isResentEmpty = (message: string): boolean =>
  /^litellm\.\w+: /i.test(message) &&
  /must provide a model|model name not specified|\bmodel\b[^.]{0,40}(required|missing)/i.test(
    message.slice(0, 300),
  );

/** LiteLLM without a database responds with 400 "No connected db." to every key except its master key. */
export const unknownKey = {
  type: 'no_db_connection',
  message: /^(authentication error, )?no connected db\b/i,
  advice:
    'Check apiKey: without a database, LiteLLM returns this for every key except its master key.',
};

/** Returns whether a URL is one of Azure's that has the version of the API in its query, and lacks it. */
export function needsAPIVersion(url: string): boolean {
  const { hostname, pathname, searchParams } = new URL(url);
  return (
    hostname.endsWith('.azure.com') &&
    !pathname.includes('/v1/') &&
    !searchParams.has('api-version')
  );
}
