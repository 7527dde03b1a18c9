import type { HarmCategory, Content, Part } from './types.ts';
import type { JsonObject, OpenString } from '../types.ts';

/** From which probability on content is blocked. */
export type HarmBlockThreshold = OpenString<
  | 'HARM_BLOCK_THRESHOLD_UNSPECIFIED'
  | 'BLOCK_LOW_AND_ABOVE'
  | 'BLOCK_MEDIUM_AND_ABOVE'
  | 'BLOCK_ONLY_HIGH'
  | 'BLOCK_NONE'
  | 'OFF'
>;

/** How strictly one category is reviewed. */
export interface SafetySetting {
  category: HarmCategory;
  threshold: HarmBlockThreshold;
}

/** How much, and whether visibly, the model thinks. */
export interface ThinkingConfig {
  /** Whether the answer carries the thoughts. */
  includeThoughts?: boolean | undefined;
  /** How many tokens may go into thinking; 0 for none, −1 to let the model decide. */
  thinkingBudget?: number | undefined;
  thinkingLevel?: OpenString<'minimal' | 'low' | 'medium' | 'high'> | undefined;
}

/** Settings of a generation. */
export interface GenerationConfig {
  /** Sampling temperature, usually 0 to 2. Higher is more random. */
  temperature?: number | undefined;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  topP?: number | undefined;
  /** Only the so many most likely tokens. */
  topK?: number | undefined;
  /** Upper bound on the generated tokens. */
  maxOutputTokens?: number | undefined;
  /** How many answers to generate; each is charged. */
  candidateCount?: number | undefined;
  /** Texts at which the model stops. */
  stopSequences?: string[] | undefined;
  /** For example `"application/json"`. */
  responseMimeType?: string | undefined;
  /** The form of a JSON answer, in Google's own subset of OpenAPI. */
  responseSchema?: JsonObject | undefined;
  /** The form of a JSON answer, as a JSON Schema. */
  responseJsonSchema?: unknown;
  /** The kinds of output to generate. */
  responseModalities?: OpenString<'TEXT' | 'IMAGE' | 'AUDIO'>[] | undefined;
  /** Asks for the same answer to the same request, as far as the provider can. */
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  /** Whether the answer carries the log probabilities of its tokens. */
  responseLogprobs?: boolean | undefined;
  /** How many alternatives per token. */
  logprobs?: number | undefined;
  thinkingConfig?: ThinkingConfig | undefined;
  /** Voice settings. */
  speechConfig?: JsonObject | undefined;
  /** Image settings, for example `{ aspectRatio: "16:9" }`. */
  imageConfig?: JsonObject | undefined;
  mediaResolution?: string | undefined;
}

/** A function that the model may ask to have called. */
export interface FunctionDeclaration {
  name: string;
  /** When and how to call it, for the model. */
  description?: string | undefined;
  /** The arguments, in Google's own subset of OpenAPI. */
  parameters?: JsonObject | undefined;
  /** The arguments as a JSON Schema, in place of `parameters`. */
  parametersJsonSchema?: unknown;
  /** The result, in Google's own subset of OpenAPI. */
  response?: JsonObject | undefined;
}

/** Tools that the model may use. Each field switches one kind on. */
export interface Tool {
  functionDeclarations?: FunctionDeclaration[] | undefined;
  googleSearch?: JsonObject | undefined;
  codeExecution?: JsonObject | undefined;
  urlContext?: JsonObject | undefined;
  /** Searches documents that were stored at the provider. */
  fileSearch?:
    | {
        /** For example `"fileSearchStores/my-store"`. */
        fileSearchStoreNames?: string[] | undefined;
        metadataFilter?: string | undefined;
        /** How many passages are found. */
        topK?: number | undefined;
      }
    | undefined;
}

/** Whether, and which, functions are called. */
export interface ToolConfig {
  functionCallingConfig?:
    | {
        mode?: OpenString<'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'> | undefined;
        /** Limits the model to these functions, in mode `ANY`. */
        allowedFunctionNames?: string[] | undefined;
      }
    | undefined;
  /** Settings for search, for example a position. */
  retrievalConfig?: JsonObject | undefined;
}

/** One turn of a conversation, as it may be given. A single part becomes a list of one. */
export interface ContentInput extends Omit<Content, 'parts'> {
  parts?: Part | readonly Part[] | null | undefined;
}

/**
 * Contents in every form that is understood: text, a part, a turn, or a list of those. Texts and parts
 * that follow each other are one turn of the user.
 */
export type ContentsInput =
  | string
  | Part
  | ContentInput
  | readonly (string | Part | ContentInput)[];

/** A system instruction: text, parts, or a whole turn. Only text counts in it. */
export type SystemInstructionInput = string | readonly Part[] | ContentInput;

/**
 * Parameters of `generate.content()` and `generate.contentStream()`. A parameter that is `null` is left out.
 *
 * Fields that are not listed here go through with the option `extraBody`.
 */
export interface GenerateContentParams {
  /** A model id, as `models.list()` gives it. It goes into the path, not into the body. */
  model: string;
  /** The conversation: turns, or the texts and parts of one turn of the user. */
  contents: ContentsInput;
  /** Settings of the generation. */
  generationConfig?: GenerationConfig | null | undefined;
  /** Presets the persona. Text becomes one part. */
  systemInstruction?: SystemInstructionInput | null | undefined;
  /** How strictly categories are reviewed. One setting becomes a list of one. */
  safetySettings?: SafetySetting | readonly SafetySetting[] | null | undefined;
  /** Tools that the model may use. One tool becomes a list of one. */
  tools?: Tool | readonly Tool[] | null | undefined;
  /** Whether, and which, functions are called. */
  toolConfig?: ToolConfig | null | undefined;
  /** The name of content cached at the provider. */
  cachedContent?: string | null | undefined;
  /** Your own labels, for the provider's bill. */
  labels?: Record<string, string> | null | undefined;
  /** Templates of Model Armor that review prompt and answer, by their resource names. */
  modelArmorConfig?:
    | { promptTemplateName?: string | undefined; responseTemplateName?: string | undefined }
    | null
    | undefined;
}
