import { present } from './json.ts';

/** Vendor of a model. It affects the gateway's responses. */
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
   * Vendor of the model. @defaultValue the vendor that the id implies (`gpt-…`, `gemini-…`, `claude-…`,
   * `kling-…`), otherwise the vendor whose format the route uses
   */
  readonly vendor?: Vendor | undefined;
  readonly owned_by?: string | undefined;
  /** Supported kinds of routes; `null` is sent unchanged. @defaultValue `[]` */
  readonly supported_endpoint_types?: readonly string[] | null | undefined;
  readonly type?: string | undefined;
  /**
   * The strictest supported format of a JSON response: a schema, any JSON object, or none. Requests for more
   * are rejected, in the words of `quirks.structuredOutputError`. @defaultValue "json_schema"
   */
  readonly structuredOutput?: 'json_schema' | 'json_object' | 'none' | undefined;
}

/** A model that is never available, even if it is listed. */
export const missingModel = 'missing-model';

/** Models listed by default. */
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

/** Models of vendors that the price list contains besides the listed ones, unless only those are served. */
export const pricedModels: readonly EmulatorModel[] = [
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-4o-transcribe',
  'gpt-5.5',
  'gpt-audio',
  'gpt-image-1',
  'dall-e-3',
  'sora-2',
  'tts-1',
  'whisper-1',
  'text-embedding-3-small',
  'text-embedding-3-large',
  'gemini-2.5-flash',
  'gemini-2.5-pro',
  'imagen-4',
  'veo-3.0-generate-001',
  'claude-sonnet-4-5',
  'kling-v1',
  'wan2.5-t2v',
  'viduq1',
  'MiniMax-Hailuo-02',
  'jimeng_vgfm_t2v_l20',
  'doubao-seedance-1-0-pro',
].map((id) => ({ id }));

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

/** Returns the vendor of a model from the list or from its name. */
export function findVendor(models: readonly EmulatorModel[], id: string): Vendor | undefined {
  const listed = models.find((model) => model.id === id)?.vendor;
  return listed ?? vendorNames.find(([name]) => name.test(id))?.[1];
}

/** Returns whether a model emits reasoning, by its name. */
export function isReasoning(model: string): boolean {
  return /reason|think|(^|[-/])(o\d|r\d)\b/i.test(model);
}

/** Creation time of all models, in seconds since 1970; the gateway sends the same for each. */
export const modelsCreated = 1626777600;

/** Returns a model in OpenAI's format. */
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

/** Returns a single model, from a fixed table without supported routes. */
export function knownModelBody(models: readonly EmulatorModel[], id: string): unknown {
  const model = models.find((known) => known.id === id);
  if (model === undefined && findVendor(models, id) === undefined) return undefined;
  return modelBody({ id, owned_by: model?.owned_by, supported_endpoint_types: null });
}

/** Returns the list in Gemini's format: names without a prefix, and all other fields empty. */
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
