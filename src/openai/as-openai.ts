import type { Gateway } from './gateway.ts';

/** Only a client of some kind can be asked for. */
type GivenFor<Client> = Client extends { readonly baseURL: string } ? Gateway : never;

/**
 * The same client, for code that asks for one of `openai`.
 *
 * The class there has private members, so the compiler accepts no other class in its place. This changes
 * nothing but the type: methods that the client does not serve, such as `responses.create()`, throw an
 * error that says what to use instead.
 *
 * @example
 * const model = new OpenAIChatCompletionsModel(asOpenAI(client), 'gpt-4o-mini');
 */
export function asOpenAI<Client>(client: GivenFor<Client>): Client;
export function asOpenAI(client: unknown): unknown {
  return client;
}
