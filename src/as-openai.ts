import type { Gateway } from './gateway.ts';

/** Only a client of some kind can be asked for. */
type GivenFor<Client> = Client extends { readonly baseURL: string } ? Gateway : never;

/**
 * The same client, for code that asks for one of `openai`.
 *
 * The class there has private members, so the compiler lets no other class stand in for it, whatever it
 * can do. This changes nothing but the type: what the client does not serve, such as `responses`, is not
 * there, and whoever needs it fails on it.
 *
 * @example
 * const model = new OpenAIChatCompletionsModel(asOpenAI(client), 'gpt-4o-mini');
 */
export function asOpenAI<Client>(client: GivenFor<Client>): Client;
export function asOpenAI(client: unknown): unknown {
  return client;
}
