/**
 * A client with only the resources that a program uses, so that bundlers leave out the others:
 * `createGateway(options, { chat: Chat })`.
 *
 * @module model-gateway/core
 */
import { Account } from './resources/account/account.ts';
import { Audio } from './resources/audio/audio.ts';
import { Chat } from './resources/chat/chat.ts';
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
import type { Transport } from './calls/transport.ts';
import { Images } from './resources/images/images.ts';
import { Models } from './resources/models/models.ts';
import type { GatewayOptions } from './options/options.ts';
import { Videos } from './resources/videos/videos.ts';

export { Account, Audio, Chat, Embeddings, Generate, Images, Models, Videos };
export { usageOf, type AnswerUsage } from './answers/usage.ts';
export { defineGateway, liteLLM, newApi, openAICompatible, openRouter };
export type { Speech, Transcriptions, Translations } from './resources/audio/audio.ts';
export type { Completions } from './resources/chat/chat.ts';
export type { GatewayCore, GatewayOptions, GatewayProfile };

/** Any resource of a client. */
export type GatewayResource =
  | Account
  | Audio
  | Chat
  | Embeddings
  | Generate
  | Images
  | Models
  | Videos;

/** Resource classes by the name of the client's property. */
export type GatewayResources = Readonly<
  Record<string, abstract new (...parameters: never) => GatewayResource>
> & { readonly [Name in keyof GatewayCore]?: never };

/** A client with these resources. */
export type GatewayWith<Resources extends GatewayResources> = GatewayCore & {
  readonly [Name in keyof Resources]: InstanceType<Resources[Name]>;
};

interface ResourceClass {
  new (transport: () => Transport, settle?: AccountPart['settle']): GatewayResource;
  readonly part?: AccountPart;
}

/**
 * Creates a client with only these resources. It behaves like `Gateway`, without the members for code that is
 * written for `openai`.
 *
 * The option `budget` needs `account: Account`, which reads the prices.
 *
 * @throws `InvalidInputError` if an option is invalid
 *
 * @example
 * const client = createGateway({ apiKey, baseURL: 'https://gateway.example.com' }, { chat: Chat });
 * const completion = await client.chat.completions.create({
 *   model: 'gpt-4o-mini',
 *   messages: [{ role: 'user', content: 'Hello!' }],
 * });
 */
export function createGateway<Resources extends GatewayResources>(
  options: GatewayOptions,
  resources: Resources,
): GatewayWith<Resources>;
export function createGateway(
  options: GatewayOptions,
  resources: Readonly<Record<string, ResourceClass>>,
): GatewayCore {
  checkObject('resources', resources);
  const classes = Object.entries(resources);
  const account = classes.find(([, Resource]) => Resource.part)?.[1].part;
  class Client extends GatewayCore {
    constructor(changed: GatewayOptions) {
      super(changed, account);
      for (const [name, Resource] of classes) {
        check(!(name in this), `resources.${name}`, 'is the name of another member of the client.');
        Object.assign(this, { [name]: new Resource(this.transport, account?.settle) });
      }
    }
  }
  return new Client(options);
}
