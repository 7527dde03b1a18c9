import type { Gateway } from './gateway.ts';

/** Restricts the type parameter to client types. */
type GivenFor<Client> = Client extends { readonly baseURL: string } ? Gateway : never;

/**
 * Returns the same client with the type of an `openai` client.
 *
 * The class of `openai` has private members, so the compiler accepts no other class. Only the type changes:
 * methods that the client does not support, such as `responses.retrieve()`, throw an error that names the
 * alternative.
 *
 * @example
 * const model = new OpenAIChatCompletionsModel(asOpenAI(client), 'gpt-4o-mini');
 */
export function asOpenAI<Client>(client: GivenFor<Client>): Client;
export function asOpenAI(client: unknown): unknown {
  return client;
}
