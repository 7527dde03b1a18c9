import type { Gateway, Model } from 'model-gateway';
import { print } from './print.ts';

/** The kinds of models in the demo. */
export type Kind =
  | 'chat'
  | 'generation'
  | 'embeddings'
  | 'images'
  | 'speech'
  | 'translation'
  | 'video';

/** The selected model of each kind, if the key has one. */
export type Choice = Partial<Record<Kind, string>>;

/** Recognize the kind of a model by its endpoint type or its name. */
const hints: Record<Kind, { type?: string; name: RegExp }> = {
  chat: { type: 'openai', name: /gpt|claude|chat|llama|qwen|deepseek|large/i },
  generation: { type: 'gemini', name: /gemini|flash/i },
  embeddings: { type: 'embeddings', name: /embed/i },
  images: { type: 'image-generation', name: /image|dall-e|flux|imagen/i },
  speech: { name: /tts|speech/i },
  translation: { name: /whisper|transcri|translat/i },
  video: { type: 'openai-video', name: /video|sora|veo|kling/i },
};

function choose(kind: Kind, models: readonly Model[]): string | undefined {
  const fromEnvironment = process.env[`DEMO_${kind.toUpperCase()}_MODEL`];
  if (fromEnvironment !== undefined) return fromEnvironment;
  const { type, name } = hints[kind];
  const byType = models.filter(
    (model) => type !== undefined && (model.supported_endpoint_types ?? []).includes(type),
  );
  // Gateways list nearly every model under "openai", so the name decides among those.
  return [...byType, ...models].find(({ id }) => name.test(id))?.id ?? byType[0]?.id;
}

/** Lists the models and picks one for each kind. */
export async function chooseModels(client: Gateway): Promise<Choice> {
  print.step('Models of this key');
  const { data } = await client.models.list();
  print.note(data.map(({ id }) => id).join(', '));
  const choice: Choice = {};
  for (const kind of Object.keys(hints)) {
    if (!isKind(kind)) continue;
    const id = choose(kind, data);
    if (id !== undefined) choice[kind] = id;
  }
  const picked = Object.entries(choice).map(([kind, id]) => `${kind} ${id}`);
  print.note(`Picked: ${picked.join(' · ')}`);
  return choice;
}

function isKind(value: string): value is Kind {
  return value in hints;
}
