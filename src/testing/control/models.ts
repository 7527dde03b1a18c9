import { present } from './json.ts';

/** Whose API stands behind a model. How the gateway answers depends on it. */
export type Vendor =
  | 'openai'
  | 'google'
  | 'anthropic'
  | 'kling'
  | 'ali'
  | 'vidu'
  | 'hailuo'
  | 'jimeng'
  | 'doubao';

/** A model in the list of the emulator. */
export interface EmulatorModel {
  readonly id: string;
  /**
   * Whose API stands behind it. @defaultValue the vendor that the id names (`gpt-…`, `gemini-…`,
   * `claude-…`, `kling-…`), otherwise on each route the one whose format the route has
   */
  readonly vendor?: Vendor | undefined;
  readonly owned_by?: string | undefined;
  /** Which kinds of route it serves; `null` is sent as it stands. @defaultValue `[]` */
  readonly supported_endpoint_types?: readonly string[] | null | undefined;
  readonly type?: string | undefined;
}

/** A model name that is never available, whatever the list says. */
export const missingModel = 'missing-model';

/** The models that are listed unless the options name others. */
export const defaultModels: readonly EmulatorModel[] = [
  { id: 'm-large', owned_by: 'openai', type: 'text' },
  { id: 'm-reasoning', owned_by: 'custom', type: 'text' },
  { id: 'm-flash', owned_by: 'google', type: 'text' },
  { id: 'm-embedding', owned_by: 'openai', type: 'text' },
  { id: 'm-image', owned_by: 'custom', type: 'image' },
  { id: 'm-speech', owned_by: 'openai', type: 'audio' },
  { id: 'm-translation', owned_by: 'openai', type: 'audio' },
  { id: 'm-video', owned_by: 'custom', type: 'video' },
];

const vendorNames: readonly (readonly [RegExp, Vendor])[] = [
  [/^(gpt|o\d|sora|dall-e|tts|whisper|text-embedding-(3|ada))/i, 'openai'],
  [/^(gemini|imagen|veo)/i, 'google'],
  [/^claude/i, 'anthropic'],
  [/^kling/i, 'kling'],
  [/^wan/i, 'ali'],
  [/^vidu/i, 'vidu'],
  [/^(minimax|hailuo)/i, 'hailuo'],
  [/^jimeng/i, 'jimeng'],
  [/^(doubao|seedance)/i, 'doubao'],
];

/** Whose API stands behind a model, as far as the list or its name says so. */
export function vendorOf(models: readonly EmulatorModel[], id: string): Vendor | undefined {
  const listed = models.find((model) => model.id === id)?.vendor;
  return listed ?? vendorNames.find(([name]) => name.test(id))?.[1];
}

/** Whether a model thinks before it answers, by its name. */
export function isReasoning(model: string): boolean {
  return /reason|think|(^|[-/])(o\d|r\d)\b/i.test(model);
}

/** The gateway sends one date for every model, in seconds since 1970. */
export const modelsCreated = 1626777600;

/** One model in the general form. */
export function modelBody(model: EmulatorModel): unknown {
  const { supported_endpoint_types: kinds = [] } = model;
  return present({
    id: model.id,
    object: 'model',
    created: modelsCreated,
    owned_by: model.owned_by ?? 'custom',
    supported_endpoint_types: kinds,
    type: model.type,
  });
}

/** One model when it is asked for by name: from a table in which no kind of route is filled in. */
export function knownModelBody(models: readonly EmulatorModel[], id: string): unknown {
  const model = models.find((known) => known.id === id);
  if (model === undefined && vendorOf(models, id) === undefined) return undefined;
  return modelBody({ id, owned_by: model?.owned_by, supported_endpoint_types: null });
}

/** The list in the Gemini form: names without prefix, every other field empty. */
export function geminiModels(models: readonly EmulatorModel[]): unknown {
  return {
    models: models.map(({ id }) => ({
      name: id,
      displayName: id,
      baseModelId: null,
      version: null,
      description: null,
      inputTokenLimit: null,
      outputTokenLimit: null,
      supportedGenerationMethods: null,
      thinking: null,
      temperature: null,
      maxTemperature: null,
      topP: null,
      topK: null,
    })),
    nextPageToken: null,
  };
}
