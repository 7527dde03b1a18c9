import type { JsonObject, Metadata, OpenString, WithRequestId } from '../../types.ts';
import type { PieceOf } from '../../streams/protocol.ts';
import type {
  ResponseAnnotation,
  ResponseInputItem,
  ResponseLogprob,
  ResponseOutputItem,
  ResponseOutputRefusal,
  ResponseOutputText,
} from './items.ts';
import type {
  ResponseCreateParamsNonStreaming,
  ResponseReasoning,
  ResponseTextConfig,
  ResponseTextFormat,
  ResponseToolChoice,
} from './params.ts';

/** Token usage of a response. */
export interface ResponseUsage {
  /** All input tokens, including cached ones. */
  input_tokens: number;
  input_tokens_details?: { cached_tokens?: number | undefined } | null | undefined;
  /** All output tokens, including reasoning. */
  output_tokens: number;
  output_tokens_details?: { reasoning_tokens?: number | undefined } | null | undefined;
  total_tokens: number;
}

/** The error of a failed response. */
export interface ResponseErrorBody {
  code: OpenString<'server_error' | 'rate_limit_exceeded' | 'invalid_prompt'>;
  message: string;
}

/** The state of a response. A response of `create()` has never failed: failures are errors. */
export type ResponseStatus = OpenString<
  'completed' | 'incomplete' | 'in_progress' | 'queued' | 'cancelled' | 'failed'
>;

/** A response of `responses.create()`. Additional fields of the gateway are kept. */
export interface ModelResponse extends WithRequestId {
  id: string;
  object: 'response';
  /** Unix time in seconds. */
  created_at: number;
  model: string;
  status?: ResponseStatus | undefined;
  /** The items. Empty while a background response is queued. */
  output: ResponseOutputItem[];
  /** All text of the messages in `output`; `""` if there is none. */
  output_text: string;
  /** Why the response is incomplete, if its status is `incomplete`. */
  incomplete_details: { reason?: OpenString<'max_output_tokens' | 'content_filter'> } | null;
  error: ResponseErrorBody | null;
  usage?: ResponseUsage | null | undefined;
  instructions?: string | readonly ResponseInputItem[] | null | undefined;
  previous_response_id?: string | null | undefined;
  conversation?: { id: string } | null | undefined;
  background?: boolean | null | undefined;
  completed_at?: number | null | undefined;
  max_output_tokens?: number | null | undefined;
  max_tool_calls?: number | null | undefined;
  metadata?: Metadata | null | undefined;
  parallel_tool_calls?: boolean | undefined;
  reasoning?: ResponseReasoning | null | undefined;
  service_tier?: string | null | undefined;
  store?: boolean | null | undefined;
  temperature?: number | null | undefined;
  text?: ResponseTextConfig | null | undefined;
  tool_choice?: ResponseToolChoice | null | undefined;
  tools?: JsonObject[] | undefined;
  top_logprobs?: number | null | undefined;
  top_p?: number | null | undefined;
  truncation?: string | null | undefined;
  prompt_cache_key?: string | null | undefined;
  safety_identifier?: string | null | undefined;
  user?: string | null | undefined;
}

/** The parsed type of a text format; `null` if it is not parsed. */
export type ParsedTextFormat<Format> = Format extends { $parseRaw(content: string): infer Parsed }
  ? Awaited<Parsed>
  : Format extends { type: 'json_schema' }
    ? unknown
    : null;

/** Parameters of `responses.parse()`, with the text format that determines the parsed type. */
export type ResponseParseParams<Format extends ResponseTextFormat | undefined> = Omit<
  ResponseCreateParamsNonStreaming,
  'text'
> & {
  text?: (Omit<ResponseTextConfig, 'format'> & { format?: Format }) | null | undefined;
};

/** A response of `responses.parse()`. */
export interface ParsedResponse<Parsed> extends ModelResponse {
  /**
   * The parsed and validated text of the final message. `null` if there is none: the model refused, called
   * tools, or the response is still queued.
   */
  output_parsed: Parsed | null;
}

/** Fields of every event. Gateways may leave out all but `type`. */
interface EventBase<Type extends string> extends PieceOf<ModelResponse, ResponseUsage> {
  type: Type;
  /** Position of the event in its stream. */
  sequence_number: number;
}

interface ItemEvent<Type extends string> extends EventBase<Type> {
  item_id: string;
  /** Position of the item in `output`. */
  output_index: number;
}

interface PartEvent<Type extends string> extends ItemEvent<Type> {
  /** Position of the part in `content` of the item. */
  content_index: number;
}

interface SummaryEvent<Type extends string> extends ItemEvent<Type> {
  /** Position of the part in `summary` of the item. */
  summary_index: number;
}

type ContentPart =
  | ResponseOutputText
  | ResponseOutputRefusal
  | { type: 'reasoning_text'; text: string };

/** Events with the whole response. A failed response is an error of the stream, and no event of its loop. */
export interface ResponseStateEvent extends EventBase<
  | 'response.created'
  | 'response.queued'
  | 'response.in_progress'
  | 'response.completed'
  | 'response.incomplete'
  | 'response.done'
> {
  response: ModelResponse;
}

/** Progress of a tool that the provider runs. */
export interface ResponseToolProgressEvent extends ItemEvent<
  | 'response.web_search_call.in_progress'
  | 'response.web_search_call.searching'
  | 'response.web_search_call.completed'
  | 'response.file_search_call.in_progress'
  | 'response.file_search_call.searching'
  | 'response.file_search_call.completed'
  | 'response.code_interpreter_call.in_progress'
  | 'response.code_interpreter_call.interpreting'
  | 'response.code_interpreter_call.completed'
  | 'response.image_generation_call.in_progress'
  | 'response.image_generation_call.generating'
  | 'response.image_generation_call.completed'
  | 'response.mcp_call.in_progress'
  | 'response.mcp_call.completed'
  | 'response.mcp_call.failed'
  | 'response.mcp_list_tools.in_progress'
  | 'response.mcp_list_tools.completed'
  | 'response.mcp_list_tools.failed'
> {}

/** The next piece of a text that belongs to an item: arguments, the input of a tool, or code. */
export interface ResponseItemDeltaEvent extends ItemEvent<
  | 'response.function_call_arguments.delta'
  | 'response.custom_tool_call_input.delta'
  | 'response.mcp_call_arguments.delta'
  | 'response.code_interpreter_call_code.delta'
> {
  delta: string;
}

/** The arguments of a call are complete. */
export interface ResponseArgumentsDoneEvent extends ItemEvent<
  'response.function_call_arguments.done' | 'response.mcp_call_arguments.done'
> {
  arguments: string;
  /** Only for functions. */
  name?: string | undefined;
}

/**
 * An event of a streamed response. At runtime, gateways may send further types, which are yielded too: let a
 * `switch` over `type` ignore them.
 */
export type ResponseStreamEvent =
  | ResponseStateEvent
  | ResponseToolProgressEvent
  | ResponseItemDeltaEvent
  | ResponseArgumentsDoneEvent
  | (Omit<ItemEvent<'response.output_item.added' | 'response.output_item.done'>, 'item_id'> & {
      item: ResponseOutputItem;
    })
  | (PartEvent<'response.content_part.added' | 'response.content_part.done'> & {
      part: ContentPart;
    })
  | (PartEvent<'response.output_text.delta'> & {
      delta: string;
      logprobs?: ResponseLogprob[] | undefined;
    })
  | (PartEvent<'response.output_text.done'> & { text: string })
  | (PartEvent<'response.output_text.annotation.added'> & {
      annotation: ResponseAnnotation;
      annotation_index: number;
    })
  | (PartEvent<'response.refusal.delta' | 'response.reasoning_text.delta'> & { delta: string })
  | (PartEvent<'response.refusal.done'> & { refusal: string })
  | (PartEvent<'response.reasoning_text.done'> & { text: string })
  | (SummaryEvent<
      'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done'
    > & { part: { type: 'summary_text'; text: string } })
  | (SummaryEvent<'response.reasoning_summary_text.delta'> & { delta: string })
  | (SummaryEvent<'response.reasoning_summary_text.done'> & { text: string })
  | (ItemEvent<'response.custom_tool_call_input.done'> & { input: string })
  | (ItemEvent<'response.code_interpreter_call_code.done'> & { code: string })
  | (ItemEvent<'response.image_generation_call.partial_image'> & {
      partial_image_b64: string;
      partial_image_index: number;
    })
  | (EventBase<'response.audio.delta' | 'response.audio.transcript.delta'> & { delta: string })
  | EventBase<'response.audio.done' | 'response.audio.transcript.done'>;
