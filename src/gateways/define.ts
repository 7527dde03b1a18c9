import { isObject } from '../answers/objects.ts';
import { check } from '../options/check.ts';
import { endpoints, findEndpoint, type Operation } from '../endpoints.ts';
import { UnsupportedByGatewayError } from '../errors/api-errors.ts';
import type { JsonObject } from '../types.ts';
import { checkProfile } from './check-profile.ts';
import type { DefinedGateway, GatewayProfile, WrittenRequest } from '../options/gateway-profile.ts';
import { readVideo } from './video.ts';

type Profile = GatewayProfile | undefined;

/** @throws `InvalidInputError` for a parameter that the gateway does not support */
function nameFor(profile: Profile, operation: Operation, param: string, value: unknown): string {
  const { names = {} } = profile?.requests?.[operation] ?? {};
  const name = Object.hasOwn(names, param) ? names[param] : param;
  const isLeftOut = value === undefined || value === null;
  const problem = `is not supported for ${operation} by this gateway (${profile?.name}); omit it, or pass the gateway's own field in extraBody.`;
  check(name !== null || isLeftOut, param, problem);
  return name ?? param;
}

/** Returns parameters under the gateway's names, in the gateway's format. */
export function writeParams(
  profile: Profile,
  operation: Operation,
  params: object,
  path: Readonly<Record<string, string>> = {},
): object {
  const rules = profile?.requests?.[operation];
  if (rules === undefined) return params;
  const body: JsonObject = {};
  for (const [param, value] of Object.entries(params)) {
    const name = nameFor(profile, operation, param, value);
    if (value !== undefined) body[name] = value;
  }
  if (rules.write === undefined) return body;
  const written: unknown = rules.write(body, path);
  check(isObject(written), `gateway.requests.${operation}.write`, 'must return an object.');
  return written;
}

/**
 * Returns a response in OpenAI's format. A response that the profile cannot read is returned unchanged,
 * because it may be paid for.
 */
function readAnswer(
  read: (answer: JsonObject, headers: Headers) => unknown,
  answer: object,
  headers: Headers,
): unknown {
  if (!isObject(answer)) return answer;
  try {
    const adapted = read(answer, headers);
    return isObject(adapted) ? adapted : answer;
  } catch {
    return answer;
  }
}

/** Returns the function that converts the responses of an operation, if the profile has rules for it. */
function readerFor(
  { answers, video }: GatewayProfile,
  operation: Operation,
): ((answer: JsonObject, headers: Headers) => unknown) | undefined {
  const read = answers?.[operation];
  if (video === undefined || findEndpoint(operation)?.task === undefined) return read;
  return (answer, headers) => readVideo(video, read?.(answer, headers) ?? answer);
}

function writeRequest(
  profile: GatewayProfile,
  operation: Operation,
  { json, form, isWritten, params }: Parameters<DefinedGateway['write']>[1],
): WrittenRequest {
  const advice = profile.unsupported?.[operation];
  if (advice !== undefined) {
    const message = `This gateway (${profile.name}) does not serve ${operation}.`;
    throw new UnsupportedByGatewayError(message, { outcome: 'not_sent', advice });
  }
  // Form fields are checked, but not renamed.
  for (const [name, value] of (isWritten !== true && form?.fields) || []) {
    const [param = name] = name.split('[', 1);
    nameFor(profile, operation, param, value);
  }
  const read = readerFor(profile, operation);
  const path = profile.paths?.[operation] ?? endpoints[operation].path;
  const { method } = profile.requests?.[operation] ?? {};
  const omitted = Object.entries(params ?? {}).filter(([name]) => !path.includes(`${name}}`));
  const body = json ?? (method && Object.fromEntries(omitted));
  return {
    path,
    ...(method && { method }),
    json: body && isWritten !== true ? writeParams(profile, operation, body, params) : body,
    adapt: read && ((answer, headers) => readAnswer(read, answer, headers)),
  };
}

/** Creates a gateway from a checked profile. */
export const fromProfile = (profile: GatewayProfile): DefinedGateway => ({
  profile,
  write: (operation, request) => writeRequest(profile, operation, request),
});

/** @throws `InvalidInputError` naming the invalid field */
export function define(profile: unknown): DefinedGateway {
  const field = 'gateway';
  check(isObject(profile), field, 'must be a profile.');
  checkProfile(field, profile);
  return fromProfile(profile);
}

/**
 * Checks a profile, for the option `gateway` of `createGateway()`. `Gateway` accepts profiles directly.
 *
 * @throws `InvalidInputError` naming the invalid field
 *
 * @example
 * const client = createGateway({ baseURL, gateway: defineGateway(openRouter) }, { images: Images });
 */
export function defineGateway(profile: GatewayProfile): DefinedGateway {
  return define(profile);
}
