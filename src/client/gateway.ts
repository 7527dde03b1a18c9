import { Account } from '../resources/account/account.ts';
import { Audio } from '../resources/audio/audio.ts';
import { Chat } from '../resources/chat/chat.ts';
import { GatewayCore } from './core-client.ts';
import { Embeddings } from '../resources/embeddings/embeddings.ts';
import { readGateway } from '../gateways/index.ts';
import { Generate } from '../resources/generate/generate.ts';
import { Images } from '../resources/images/images.ts';
import { Models } from '../resources/models/models.ts';
import type { GatewayOptions } from '../options/options.ts';
import policies from '../policies/index.ts';
import { Routes } from '../resources/routes/methods.ts';
import { Responses } from '../resources/responses/responses.ts';
import { Videos } from '../resources/videos/videos.ts';

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the static block below copies the methods
export interface FullClient extends Routes {}

/** A client with all resources and policies. `Gateway` adds the names that code for `openai` uses. */
export class FullClient extends GatewayCore {
  /** Chat in OpenAI's format, with or without streaming. */
  readonly chat: Chat;
  /** The Responses API, with or without streaming. Keeps no state. */
  readonly responses: Responses;
  /** Content generation in Gemini's format, with or without streaming. */
  readonly generate: Generate;
  /** Text to vectors. */
  readonly embeddings: Embeddings;
  /** Image generation and editing. Consumes credit. */
  readonly images: Images;
  /** Speech and translation. */
  readonly audio: Audio;
  /** Video tasks: submit, wait, download, remix. Consumes credit. */
  readonly videos: Videos;
  /** Models available to the key. */
  readonly models: Models;
  /** The gateway's usage log, balance and prices, and whether a call was charged. */
  readonly account: Account;

  constructor(options: GatewayOptions) {
    super(options, { policies, account: Account.part, readGateway });
    this.chat = new Chat(this.transport);
    this.responses = new Responses(this.transport);
    this.generate = new Generate(this.transport);
    this.embeddings = new Embeddings(this.transport);
    this.images = new Images(this.transport);
    this.audio = new Audio(this.transport);
    this.videos = new Videos(this.transport);
    this.models = new Models(this.transport);
    this.account = new Account(this.transport);
  }

  static {
    const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(Routes.prototype);
    Object.defineProperties(this.prototype, methods);
  }
}
