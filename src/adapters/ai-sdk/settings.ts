import type {
  LanguageModelV4,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  Gateway,
  type CompletionUsage,
  type GatewayOptions,
  type HeaderValues,
  InvalidInputError,
} from '../../index.ts';
import { providerName } from './options.ts';
import type { VideoSettings } from './video-start.ts';

/** Reads provider metadata from responses. */
export interface MetadataExtractor {
  /** Returns the metadata of a whole response, under the name of a provider. */
  extractMetadata(response: {
    readonly parsedBody: unknown;
  }): PromiseLike<SharedV4ProviderMetadata | undefined>;
  /** Returns an object that receives each chunk of a stream, and returns the metadata at its end. */
  createStreamExtractor(): {
    processChunk(parsedChunk: unknown): void;
    buildMetadata(): SharedV4ProviderMetadata | undefined;
  };
}

/** Settings of chat models, with the names of `createOpenAICompatible()`. */
export interface ChatModelSettings {
  /**
   * `false` requests JSON without its schema, with a warning, for models that reject schemas.
   * @defaultValue true
   */
  readonly supportsStructuredOutputs?: boolean | undefined;
  /**
   * Sends images and files in tool results as parts. Without it, the model receives only the text of a
   * result, with a warning.
   * @defaultValue false
   */
  readonly supportsMultiPartToolContent?: boolean | undefined;
  /**
   * Returns the request body to send in place of `body`. May add warnings to the result. The body needs
   * `model` and `messages`.
   */
  readonly transformRequestBody?:
    | ((
        body: ChatCompletionBody,
        warnings?: SharedV4Warning[],
      ) => Readonly<Record<string, unknown>>)
    | undefined;
  /**
   * `false` requests streams without `stream_options`. Without it, they are requested with the usage, and again without
   * `stream_options` if the provider rejects those, which costs nothing.
   * @defaultValue true
   */
  readonly includeUsage?: boolean | undefined;
  /** Reads provider metadata from responses. */
  readonly metadataExtractor?: MetadataExtractor | undefined;
  /**
   * The URLs that the provider behind the gateway can read. `ai` downloads other files and sends their content.
   * @defaultValue images and videos at `http:` and `https:`
   */
  readonly supportedUrls?: (() => LanguageModelV4['supportedUrls']) | undefined;
  /** Converts the usage of a response, for providers that count differently. */
  readonly convertUsage?:
    | ((usage: CompletionUsage | null | undefined) => LanguageModelV4Usage)
    | undefined;
}

/** The body of a chat request, before it is changed. */
export interface ChatCompletionBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly [field: string]: unknown }[];
  readonly [field: string]: unknown;
}

/** Settings of `createOpenAICompatible()` that concern the client. */
export interface CompatibleSettings {
  /** Headers of every request: `defaultHeaders` of the client. */
  readonly headers?: HeaderValues | undefined;
  /** Query of every request: `defaultQuery` of the client. */
  readonly queryParams?: Readonly<Record<string, string>> | undefined;
}

/** An existing client, or the options of a new one. */
export type ClientSettings =
  | (GatewayOptions & CompatibleSettings & { readonly client?: undefined })
  | { readonly client: Gateway };

/**
 * Settings of a provider: an existing client or the options of a new one, how to track videos, and settings of
 * chat models.
 */
export type ModelGatewaySettings = VideoSettings & ChatModelSettings & ClientSettings;

/** Settings, sorted by what uses them. */
interface ProviderSettings {
  readonly options: ClientSettings;
  readonly videos: VideoSettings;
  readonly chat: ChatModelSettings;
}

/** The settings of chat models, each with its type. */
const chatKinds: Readonly<Record<keyof ChatModelSettings, 'boolean' | 'function' | 'object'>> = {
  supportsStructuredOutputs: 'boolean',
  supportsMultiPartToolContent: 'boolean',
  includeUsage: 'boolean',
  transformRequestBody: 'function',
  metadataExtractor: 'object',
  supportedUrls: 'function',
  convertUsage: 'function',
};

/** Returns the settings of `settings` whose names pass. */
function pick<Settings extends object>(
  settings: Settings,
  passes: (name: string) => boolean,
): Settings {
  const picked = { ...settings };
  for (const name of Object.keys(picked)) if (!passes(name)) Reflect.deleteProperty(picked, name);
  return picked;
}

const isChatSetting = (name: string): boolean => Object.hasOwn(chatKinds, name);

/**
 * Checks settings of chat models, and returns them without others.
 *
 * @throws `InvalidInputError` if one has the wrong type
 */
export function checkChatSettings(settings: ChatModelSettings): ChatModelSettings {
  const chat = pick(settings, isChatSetting);
  for (const [name, kind] of Object.entries(chatKinds)) {
    const value: unknown = Reflect.get(chat, name);
    if (kind === 'object' || value === undefined || typeof value === kind) continue;
    const problem = kind === 'boolean' ? 'must be true or false.' : 'must be a function.';
    throw new InvalidInputError(name, problem);
  }
  if (chat.metadataExtractor === undefined) return chat;
  for (const name of ['extractMetadata', 'createStreamExtractor'] as const) {
    if (typeof chat.metadataExtractor?.[name] === 'function') continue;
    throw new InvalidInputError('metadataExtractor', `must have a method ${name}().`);
  }
  return chat;
}

/**
 * Reads the settings of a provider.
 *
 * @throws `InvalidInputError` if one is invalid
 */
export function readSettings(settings: ModelGatewaySettings): ProviderSettings {
  const { onSubmitted, ledger } = settings;
  const options = pick(settings, (name) => !isChatSetting(name) && !isVideoSetting(name));
  checkName(options);
  Reflect.deleteProperty(options, 'name');
  return { chat: checkChatSettings(settings), videos: { onSubmitted, ledger }, options };
}

const isVideoSetting = (name: string): boolean => name === 'onSubmitted' || name === 'ledger';

function checkName(options: object): void {
  const name: unknown = 'name' in options ? options.name : undefined;
  if (name === undefined || name === providerName) return;
  const fix = `Omit it, and put provider options below providerOptions.${providerName}.`;
  throw new InvalidInputError('name', `cannot be set: the provider is "${providerName}". ${fix}`);
}

/**
 * Creates the client of a provider.
 *
 * @throws `InvalidInputError` if a setting is invalid, or has no effect
 */
export function createClient(settings: ClientSettings): Gateway {
  const { client, ...others } = settings;
  if (client !== undefined) {
    const [unused] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (unused === undefined) return client;
    throw new InvalidInputError(unused, 'has no effect beside client; set it on the client.');
  }
  const { headers, queryParams, ...options }: GatewayOptions & CompatibleSettings = others;
  return new Gateway({
    ...options,
    ...alias('headers', headers, 'defaultHeaders', options.defaultHeaders),
    ...alias('queryParams', queryParams, 'defaultQuery', options.defaultQuery),
  });
}

/** Returns a setting under the name of the client's option. */
function alias(name: string, value: unknown, option: string, other: unknown): object {
  if (value === undefined) return {};
  if (other === undefined || other === null) return { [option]: value };
  throw new InvalidInputError(name, `is another name of ${option}; set only one of them.`);
}
