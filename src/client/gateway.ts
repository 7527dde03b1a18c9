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
import { Videos } from '../resources/videos/videos.ts';

/** A client with all resources. `Gateway` adds the names that code for `openai` uses. */
export class FullClient extends GatewayCore {
  /** Chat in OpenAI's format, with or without streaming. */
  readonly chat: Chat;
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
    super(options, Account.part, readGateway);
    this.chat = new Chat(this.transport);
    this.generate = new Generate(this.transport);
    this.embeddings = new Embeddings(this.transport);
    this.images = new Images(this.transport, Account.part.settle);
    this.audio = new Audio(this.transport);
    this.videos = new Videos(this.transport, Account.part.settle);
    this.models = new Models(this.transport);
    this.account = new Account(this.transport);
  }
}
