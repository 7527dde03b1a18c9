/**
 * A client with only the resources that a program uses, so that bundlers leave out the others:
 * `createGateway(options, { chat: Chat })`.
 *
 * @module model-gateway/core
 */
import { Account } from './resources/account/account.ts';
import { Audio } from './resources/audio/audio.ts';
import { Chat as ChatWithRuns } from './resources/chat/chat.ts';
import { PlainChat as Chat } from './resources/chat/create.ts';
import { check, checkObject } from './options/check.ts';
import { type AccountPart, GatewayCore } from './client/core-client.ts';
import { Embeddings } from './resources/embeddings/embeddings.ts';
import { defineGateway } from './gateways/define.ts';
import { liteLLM } from './gateways/litellm.ts';
import { newApi } from './gateways/new-api.ts';
import { openAICompatible } from './gateways/openai.ts';
import { openRouter } from './gateways/openrouter.ts';
import type { GatewayProfile } from './options/gateway-profile.ts';
import { Generate } from './resources/generate/generate.ts';
import { type Policy, thisCopy, type Transport } from './calls/transport.ts';
import { Images } from './resources/images/images.ts';
import { Models } from './resources/models/models.ts';
import type { GatewayOptions, GatewayPolicy } from './options/options.ts';
import type { OptionOf } from './options/option-table.ts';
import { Routes } from './resources/routes/methods.ts';
import { Responses } from './resources/responses/responses.ts';
import { Videos } from './resources/videos/videos.ts';

export {
  Account,
  Audio,
  Chat,
  ChatWithRuns,
  Embeddings,
  Generate,
  Images,
  Models,
  Responses,
  Routes,
  Videos,
};
export * from './policies/index.ts';
export { usageOf, type AnswerUsage } from './answers/usage.ts';
export { defineGateway, liteLLM, newApi, openAICompatible, openRouter };
export type { Speech, Transcriptions, Translations } from './resources/audio/audio.ts';
export type { Completions } from './resources/chat/chat.ts';
export type { PlainCompletions } from './resources/chat/create.ts';
export type { GatewayCore, GatewayOptions, GatewayPolicy, GatewayProfile };

/** Any resource of a client. */
export type GatewayResource =
  | Account
  | Audio
  | Chat
  | Embeddings
  | Generate
  | Images
  | Models
  | Responses
  | Routes
  | Videos;

/** Resource classes by the name of the client's property. */
export type GatewayResources = Readonly<
  Record<string, abstract new (...parameters: never) => GatewayResource>
> & { readonly [Name in keyof GatewayCore]?: never };

/** A client with these resources. */
export type GatewayWith<Resources extends GatewayResources> = GatewayCore & {
  readonly [Name in keyof Resources]: InstanceType<Resources[Name]>;
};

/** The options of a client with these resources and policies. */
export type GatewayOptionsFor<
  Resources extends GatewayResources,
  Policies extends readonly GatewayPolicy[],
> = Omit<GatewayOptions, OptionOf> &
  Pick<
    GatewayOptions,
    Extract<
      | Policies[number]['options'][number]
      | (Account extends InstanceType<Resources[keyof Resources]> ? OptionOf<'spending'> : never),
      OptionOf
    >
  >;

interface ResourceClass {
  new (transport: () => Transport): GatewayResource;
  readonly part?: AccountPart;
}

/** @throws `InvalidInputError` naming an entry that is no policy of this copy of the package, or is listed twice */
function checkPolicies(policies: readonly Policy[]): void {
  const isList = Array.isArray(policies);
  check(isList, 'policies', 'must be a list, such as [withFallback()].');
  for (const [index, policy] of policies.entries()) {
    const field = `policies[${index}]`;
    const isPolicy = Array.isArray(policy?.options);
    check(isPolicy, field, 'is not a policy; pass the result of withFallback() or another one.');
    const { name, copy = thisCopy } = policy;
    const other =
      'is of another copy of the package, or of its other module format (import or require); take it from the module of createGateway().';
    check(copy === thisCopy, field, other);
    const first = policies.findIndex((each) => each.name === name);
    const twice = `is listed twice: policies[${first}] is the same policy, "${name}"; list it once.`;
    check(first === index, field, twice);
  }
}

/**
 * Creates a client with only these resources and policies. It behaves like `Gateway`, without the members for
 * code that is written for `openai`.
 *
 * @param resources - The resource classes. `Chat` has `completions.create()`; `ChatWithRuns` also has `parse()`,
 *   `stream()` and `runTools()`. `Routes` calls any route by its path.
 * @param policies - The features around calls: `withFallback()` for the options `fallback`, `fallbackOn` and
 *   `onFallback`, `withOutputModes()` for `structuredOutput`, `withLimits()` for `limits`, `withObservers()` for
 *   `observer`, `onRequest` and `onResponse`. Their order has no effect. The option `budget` needs the resource
 *   `Account`, which reads the prices.
 * @throws `InvalidInputError` if an option is invalid, or its policy is missing. Options of a call are checked
 *   likewise, before anything is sent.
 *
 * @example
 * const client = createGateway({ apiKey, baseURL: 'https://gateway.example.com' }, { chat: Chat });
 * const completion = await client.chat.completions.create({
 *   model: 'gpt-4o-mini',
 *   messages: [{ role: 'user', content: 'Hello!' }],
 * });
 */
export function createGateway<
  Resources extends GatewayResources,
  const Policies extends readonly GatewayPolicy[] = [],
>(
  options: GatewayOptionsFor<Resources, Policies>,
  resources: Resources,
  policies?: Policies,
): GatewayWith<Resources>;
export function createGateway(
  options: GatewayOptions,
  resources: Readonly<Record<string, ResourceClass>>,
  policies: readonly Policy[] = [],
): GatewayCore {
  checkObject('resources', resources);
  checkPolicies(policies);
  // A later change of the caller's list has no effect.
  const listed = [...policies];
  const classes = Object.entries(resources);
  const account = classes.find(([, Resource]) => Resource.part)?.[1].part;
  class Client extends GatewayCore {
    constructor(changed: GatewayOptions) {
      super(changed, { policies: listed, account });
      for (const [name, Resource] of classes) {
        check(!(name in this), `resources.${name}`, 'is the name of another member of the client.');
        Object.assign(this, { [name]: new Resource(this.transport) });
      }
    }
  }
  return new Client(options);
}
