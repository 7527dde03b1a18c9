import type { OpenString } from '../types.ts';

/** A JSON Schema for the arguments of a function. */
export type FunctionParameters = Record<string, unknown>;

/** A function that the model may ask to have called. */
export interface FunctionDefinition {
  /** Letters, digits, underscores and dashes. */
  name: string;
  /** When and how to call it, for the model. */
  description?: string | undefined;
  /** The arguments as a JSON Schema. Left out: no arguments. */
  parameters?: FunctionParameters | undefined;
  /** Holds the model to the schema. Many gateways drop this field before the provider sees it. */
  strict?: boolean | null | undefined;
}

/** A function as a tool. */
export interface ChatCompletionFunctionTool {
  type: 'function';
  function: FunctionDefinition;
}

/** A tool whose input is free text, or text of a grammar. */
export interface ChatCompletionCustomTool {
  type: 'custom';
  custom: {
    name: string;
    description?: string | undefined;
    /** The form of the input. Left out: any text. */
    format?:
      | { type: 'text' }
      | {
          type: 'grammar';
          grammar: { definition: string; syntax: OpenString<'lark' | 'regex'> };
        }
      | undefined;
  };
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionCustomTool {
  type Custom = ChatCompletionCustomTool['custom'];
}

/** A tool that the model may use. */
export type ChatCompletionTool = ChatCompletionFunctionTool | ChatCompletionCustomTool;

/** Makes the model call this function. */
export interface ChatCompletionNamedToolChoice {
  type: 'function';
  function: { name: string };
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionNamedToolChoice {
  type Function = ChatCompletionNamedToolChoice['function'];
}

/** Makes the model use this custom tool. */
export interface ChatCompletionNamedToolChoiceCustom {
  type: 'custom';
  custom: { name: string };
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionNamedToolChoiceCustom {
  type Custom = ChatCompletionNamedToolChoiceCustom['custom'];
}

/** Limits the model to some of the tools. */
export interface ChatCompletionAllowedToolChoice {
  type: 'allowed_tools';
  allowed_tools: {
    /** `auto`: it may use them; `required`: it must. */
    mode: 'auto' | 'required';
    /** Tools by type and name, for example `{ type: "function", function: { name: "find" } }`. */
    tools: Record<string, unknown>[];
  };
}

/** Which tools the model is limited to. */
export type ChatCompletionAllowedTools = ChatCompletionAllowedToolChoice['allowed_tools'];

/** Whether, and which, tools are used. */
export type ChatCompletionToolChoiceOption =
  | 'none'
  | 'auto'
  | 'required'
  | ChatCompletionAllowedToolChoice
  | ChatCompletionNamedToolChoice
  | ChatCompletionNamedToolChoiceCustom;

/** Plain text, the default. */
export interface ResponseFormatText {
  type: 'text';
}

/** Any JSON object. Most models need the word JSON in a message too. */
export interface ResponseFormatJSONObject {
  type: 'json_object';
}

/** JSON that follows a schema. */
export interface ResponseFormatJSONSchema {
  type: 'json_schema';
  json_schema: {
    /** Letters, digits, underscores and dashes. */
    name: string;
    description?: string | undefined;
    schema?: Record<string, unknown> | undefined;
    /** Holds the model to the schema. */
    strict?: boolean | null | undefined;
  };
}

/** The form of the answer. */
export type ChatCompletionResponseFormat =
  | ResponseFormatText
  | ResponseFormatJSONObject
  | ResponseFormatJSONSchema;
