import type { JsonObject, OpenString } from '../../types.ts';

/** The state of an item. */
export type ResponseItemStatus = OpenString<'in_progress' | 'completed' | 'incomplete'>;

/** The role of a text that precedes the answer, or of the answer itself. */
export type ResponsePhase = OpenString<'commentary' | 'final_answer'>;

/** A source that the text refers to, for example a web page or a file. */
export interface ResponseAnnotation {
  type: OpenString<'url_citation' | 'file_citation' | 'container_file_citation' | 'file_path'>;
  url?: string | undefined;
  title?: string | undefined;
  /** Position of the first character in the text. */
  start_index?: number | undefined;
  /** Position after the last character in the text. */
  end_index?: number | undefined;
  file_id?: string | undefined;
  filename?: string | undefined;
  container_id?: string | undefined;
  index?: number | undefined;
}

/** Text of the model. */
export interface ResponseOutputText {
  type: 'output_text';
  text: string;
  annotations: ResponseAnnotation[];
  /** Requested by `include: ["message.output_text.logprobs"]`. */
  logprobs?: ResponseLogprob[] | undefined;
}

/** The probability of a token. */
export interface ResponseLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null | undefined;
  top_logprobs?: Omit<ResponseLogprob, 'top_logprobs'>[] | undefined;
}

/** A refusal of the model. */
export interface ResponseOutputRefusal {
  type: 'refusal';
  refusal: string;
}

/** A message of the model. */
export interface ResponseOutputMessage {
  type: 'message';
  id: string;
  role: 'assistant';
  status: ResponseItemStatus;
  content: (ResponseOutputText | ResponseOutputRefusal)[];
  /** Distinguishes comments on the work from the answer. Send it back unchanged. */
  phase?: ResponsePhase | null | undefined;
}

/** Reasoning of the model. Send it back unchanged, so that the model continues from it. */
export interface ResponseReasoningItem {
  type: 'reasoning';
  id: string;
  summary: { type: 'summary_text'; text: string }[];
  content?: { type: 'reasoning_text'; text: string }[] | undefined;
  /** Reasoning that only the provider can read, requested by `include: ["reasoning.encrypted_content"]`. */
  encrypted_content?: string | null | undefined;
  status?: ResponseItemStatus | null | undefined;
}

/** A call of a function. Answer it with a `function_call_output`. */
export interface ResponseFunctionToolCall {
  type: 'function_call';
  name: string;
  /** The arguments as JSON text. */
  arguments: string;
  call_id: string;
  id?: string | undefined;
  namespace?: string | undefined;
  caller?: JsonObject | null | undefined;
  status?: ResponseItemStatus | undefined;
  /**
   * The validated arguments, set by `responses.parse()`; `null` if the tool has no parser and isn't strict. Not
   * enumerable, so that the item can be sent back.
   */
  parsed_arguments?: unknown;
}

/** A call of a custom tool, whose input is plain text. */
export interface ResponseCustomToolCall {
  type: 'custom_tool_call';
  name: string;
  input: string;
  call_id: string;
  id?: string | undefined;
  namespace?: string | undefined;
  caller?: JsonObject | null | undefined;
}

/** The result of a tool that your program ran. */
interface ToolOutput<Type extends string> {
  type: Type;
  call_id: string;
  /** Text, or a list of texts, images and files. */
  output: string | ResponseInputContent[];
  id?: string | null | undefined;
  status?: ResponseItemStatus | null | undefined;
}

export type ResponseFunctionCallOutput = ToolOutput<'function_call_output'>;
export type ResponseCustomToolCallOutput = ToolOutput<'custom_tool_call_output'>;

/** A call of a remote MCP tool. Its `error` is a result for the model, which continues. */
export interface ResponseMcpCall {
  type: 'mcp_call';
  id: string;
  name: string;
  arguments: string;
  server_label: string;
  output?: string | null | undefined;
  error?: unknown;
  approval_request_id?: string | null | undefined;
  status?:
    | OpenString<'in_progress' | 'completed' | 'incomplete' | 'calling' | 'failed'>
    | undefined;
}

/** The tools of a remote MCP server. */
export interface ResponseMcpListTools {
  type: 'mcp_list_tools';
  id: string;
  server_label: string;
  tools: { name: string; input_schema: unknown; description?: string | null | undefined }[];
  error?: unknown;
}

/** Requests your approval for a call of a remote MCP tool. */
export interface ResponseMcpApprovalRequest {
  type: 'mcp_approval_request';
  id: string;
  name: string;
  arguments: string;
  server_label: string;
}

export interface ResponseMcpApprovalResponse {
  type: 'mcp_approval_response';
  approval_request_id: string;
  approve: boolean;
  reason?: string | null | undefined;
  id?: string | null | undefined;
}

/** A generated image. */
export interface ResponseImageGenerationCall {
  type: 'image_generation_call';
  id: string;
  /** The image in base64. */
  result: string | null;
  status: OpenString<'in_progress' | 'completed' | 'generating' | 'failed'>;
  revised_prompt?: string | null | undefined;
  output_format?: OpenString<'png' | 'webp' | 'jpeg'> | null | undefined;
  error?: unknown;
}

/** Code that the provider ran. */
export interface ResponseCodeInterpreterToolCall {
  type: 'code_interpreter_call';
  id: string;
  code: string | null;
  container_id: string;
  outputs: JsonObject[] | null;
  status: OpenString<'in_progress' | 'completed' | 'incomplete' | 'interpreting' | 'failed'>;
}

/** Calls of built-in tools, by the names of their types. */
type BuiltInCall =
  | 'web_search_call'
  | 'file_search_call'
  | 'computer_call'
  | 'computer_call_output'
  | 'local_shell_call'
  | 'local_shell_call_output'
  | 'shell_call'
  | 'shell_call_output'
  | 'apply_patch_call'
  | 'apply_patch_call_output'
  | 'tool_search_call'
  | 'tool_search_output'
  | 'additional_tools'
  | 'program'
  | 'program_output'
  | 'compaction';

/** A call of a built-in tool, or its result. Its other fields depend on `type`. */
export interface ResponseBuiltInItem {
  type: BuiltInCall;
  id?: string | null | undefined;
  call_id?: string | null | undefined;
  status?: string | null | undefined;
  [field: string]: unknown;
}

/**
 * An item of a response. Send items back in `input` unchanged. At runtime, gateways may send further kinds,
 * which are kept.
 */
export type ResponseOutputItem =
  | ResponseOutputMessage
  | ResponseReasoningItem
  | ResponseFunctionToolCall
  | ResponseFunctionCallOutput
  | ResponseCustomToolCall
  | ResponseCustomToolCallOutput
  | ResponseMcpCall
  | ResponseMcpListTools
  | ResponseMcpApprovalRequest
  | ResponseMcpApprovalResponse
  | ResponseImageGenerationCall
  | ResponseCodeInterpreterToolCall
  | ResponseBuiltInItem;

/** Text of the input. */
export interface ResponseInputText {
  type: 'input_text';
  text: string;
}

/** An image of the input: a URL, also a `data:` URL, or the id of a file. */
export interface ResponseInputImage {
  type: 'input_image';
  /** @defaultValue "auto" */
  detail?: OpenString<'low' | 'high' | 'auto' | 'original'> | null | undefined;
  image_url?: string | null | undefined;
  file_id?: string | null | undefined;
}

/** A file of the input: a `data:` URL, a URL, or the id of a file. */
export interface ResponseInputFile {
  type: 'input_file';
  filename?: string | null | undefined;
  file_data?: string | null | undefined;
  file_url?: string | null | undefined;
  file_id?: string | null | undefined;
}

/** Audio of the input, where the model accepts it. */
export interface ResponseInputAudio {
  type: 'input_audio';
  input_audio: { data: string; format: OpenString<'mp3' | 'wav'> };
}

export type ResponseInputContent =
  | ResponseInputText
  | ResponseInputImage
  | ResponseInputFile
  | ResponseInputAudio;

/** A message of the input. */
export interface ResponseInputMessage {
  type?: 'message' | undefined;
  role: OpenString<'user' | 'assistant' | 'system' | 'developer'>;
  content: string | (ResponseInputContent | ResponseOutputText | ResponseOutputRefusal)[];
  id?: string | undefined;
  status?: ResponseItemStatus | undefined;
  phase?: ResponsePhase | null | undefined;
}

/** Refers to an item that the provider stored. */
export interface ResponseItemReference {
  type: 'item_reference';
  id: string;
}

/** An item of the input: a message, an item of an earlier response, or the result of a tool. */
export type ResponseInputItem =
  | ResponseInputMessage
  | ResponseOutputItem
  | ResponseItemReference
  | { type: 'compaction_trigger'; id?: string | null | undefined };
