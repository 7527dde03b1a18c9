import type { NoOptions } from '../../options/options.ts';
import type { HarmCategory, Content, Part } from './types.ts';
import type { JsonObject, OpenString } from '../../types.ts';

/** The minimum probability of harm that blocks content. */
export type HarmBlockThreshold = OpenString<
  | 'HARM_BLOCK_THRESHOLD_UNSPECIFIED'
  | 'BLOCK_LOW_AND_ABOVE'
  | 'BLOCK_MEDIUM_AND_ABOVE'
  | 'BLOCK_ONLY_HIGH'
  | 'BLOCK_NONE'
  | 'OFF'
>;

/** The threshold of one category. */
export interface SafetySetting {
  category: HarmCategory;
  threshold: HarmBlockThreshold;
}

/** Settings of the model's reasoning. */
export interface ThinkingConfig {
  /** `true` returns the thoughts. */
  includeThoughts?: boolean | undefined;
  /** Maximum number of reasoning tokens; 0 for none, −1 lets the model decide. */
  thinkingBudget?: number | undefined;
  thinkingLevel?: OpenString<'minimal' | 'low' | 'medium' | 'high'> | undefined;
}

/** Settings of a generation. */
export interface GenerationConfig {
  /** Sampling temperature, usually 0 to 2. Higher is more random. */
  temperature?: number | undefined;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  topP?: number | undefined;
  /** Number of most likely tokens to sample from. */
  topK?: number | undefined;
  /** Maximum number of generated tokens. */
  maxOutputTokens?: number | undefined;
  /** Number of candidates to generate; each is charged. */
  candidateCount?: number | undefined;
  /** Sequences that stop the generation. */
  stopSequences?: string[] | undefined;
  /** For example `"application/json"`. */
  responseMimeType?: string | undefined;
  /** The schema of a JSON response, in Google's subset of OpenAPI. */
  responseSchema?: JsonObject | undefined;
  /**
   * The schema of a JSON response as a JSON Schema, instead of `responseSchema`. Google supports a part of
   * the standard. Requires `responseMimeType: "application/json"`.
   */
  responseJsonSchema?: unknown;
  /** The kinds of output to generate. */
  responseModalities?: OpenString<'TEXT' | 'IMAGE' | 'AUDIO'>[] | undefined;
  /** Requests the same response to the same request, as far as the provider can. */
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  /** `true` returns the log probabilities of the tokens. */
  responseLogprobs?: boolean | undefined;
  /** Number of alternatives per token. */
  logprobs?: number | undefined;
  thinkingConfig?: ThinkingConfig | undefined;
  /** Voice settings. */
  speechConfig?: JsonObject | undefined;
  /** Image settings, for example `{ aspectRatio: "16:9" }`. */
  imageConfig?: JsonObject | undefined;
  mediaResolution?: string | undefined;
}

/** A function that the model may call. */
export interface FunctionDeclaration {
  name: string;
  /** Tells the model when and how to call the function. */
  description?: string | undefined;
  /** The arguments, in Google's subset of OpenAPI. */
  parameters?: JsonObject | undefined;
  /** The arguments as a JSON Schema, instead of `parameters`. */
  parametersJsonSchema?: unknown;
  /** The result, in Google's subset of OpenAPI. */
  response?: JsonObject | undefined;
  /** The result as a JSON Schema, instead of `response`. */
  responseJsonSchema?: unknown;
}

/** Tools that the model may use. Each field enables one kind. */
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
        /** Number of passages to find. */
        topK?: number | undefined;
      }
    | undefined;
  /** MCP servers that the provider calls, for example `{ name, streamableHttpTransport: { url } }`. */
  mcpServers?: JsonObject[] | undefined;
}

/** Controls the use of functions. */
export interface ToolConfig {
  functionCallingConfig?:
    | {
        mode?: OpenString<'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'> | undefined;
        /** Limits the model to these functions, in mode `ANY`. */
        allowedFunctionNames?: string[] | undefined;
      }
    | undefined;
  /** Settings for search, for example a location. */
  retrievalConfig?: JsonObject | undefined;
  /** Returns the calls of the provider's own tools and their results in the content. */
  includeServerSideToolInvocations?: boolean | undefined;
}

/** A turn of a conversation as input. A single part becomes a list of one. */
export interface ContentInput extends Omit<Content, 'parts'> {
  parts?: Part | readonly Part[] | null | undefined;
}

/**
 * Contents in any supported form: text, a part, a turn, or a list of them. Consecutive texts and parts are
 * one turn of the user.
 */
export type ContentsInput =
  | string
  | Part
  | ContentInput
  | readonly (string | Part | ContentInput)[];

/** A system instruction: text, parts, or a turn. Only its text is used. */
export type SystemInstructionInput = string | readonly Part[] | ContentInput;

/**
 * Parameters of `generate.content()` and `generate.contentStream()`. Parameters that are `null` are omitted.
 *
 * Send other fields with the option `extraBody`.
 */
export interface GenerateContentParams extends NoOptions {
  /** A model id, as returned by `models.list()`. Sent in the path, not in the body. */
  model: string;
  /** The conversation: turns, or the texts and parts of one turn of the user. */
  contents: ContentsInput;
  /** Settings of the generation. */
  generationConfig?: GenerationConfig | null | undefined;
  /** Sets the persona. Text becomes one part. */
  systemInstruction?: SystemInstructionInput | null | undefined;
  /** Thresholds of categories. One setting becomes a list of one. */
  safetySettings?: SafetySetting | readonly SafetySetting[] | null | undefined;
  /** Tools that the model may use. One tool becomes a list of one. */
  tools?: Tool | readonly Tool[] | null | undefined;
  /** Controls the use of functions. */
  toolConfig?: ToolConfig | null | undefined;
  /** The name of content cached at the provider. */
  cachedContent?: string | null | undefined;
  /** Your labels for the provider's bill. */
  labels?: Record<string, string> | null | undefined;
  /** Model Armor templates that check prompt and response, by their resource names. */
  modelArmorConfig?:
    | { promptTemplateName?: string | undefined; responseTemplateName?: string | undefined }
    | null
    | undefined;
}
