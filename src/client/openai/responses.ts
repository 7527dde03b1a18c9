/** Types of responses, under the names that code for `openai` uses. */
import type {
  ResponseCreateParams,
  ResponseCreateParamsBase,
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
  ResponseCustomTool,
  ResponseReasoning,
  ResponseTextConfig,
  ResponseTextFormat,
  ResponseTool,
  ResponseToolChoice,
} from '../../resources/responses/params.ts';
import type { ResponseFunctionTool, ResponseTextJSONSchema } from '../../structured/types.ts';
import type { Closed, OpenString } from '../../types.ts';
import type {
  ResponseCodeInterpreterToolCall,
  ResponseCustomToolCall,
  ResponseCustomToolCallOutput,
  ResponseFunctionCallOutput,
  ResponseFunctionToolCall,
  ResponseImageGenerationCall,
  ResponseInputAudio,
  ResponseInputContent,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputMessage,
  ResponseInputText,
  ResponseItemReference,
  ResponseMcpApprovalRequest,
  ResponseMcpApprovalResponse,
  ResponseMcpCall,
  ResponseMcpListTools,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseReasoningItem,
} from '../../resources/responses/items.ts';
import type {
  ModelResponse,
  ParsedResponse,
  ResponseErrorBody,
  ResponseStatus,
  ResponseStreamEvent,
  ResponseUsage,
} from '../../resources/responses/types.ts';
import type * as responses from '../../resources/responses/responses.ts';

export type * from '../../resources/responses/items.ts';
export type * from '../../resources/responses/params.ts';
export type * from '../../resources/responses/types.ts';

/** Reasoning settings, as `openai` types them. `create()` also accepts other words. */
export interface Reasoning extends Omit<Closed<ResponseReasoning>, 'mode'> {
  mode?: OpenString<'standard' | 'pro'> | undefined;
}

export type EasyInputMessage = ResponseInputMessage;
export type ResponseInput = ResponseInputItem[];
export type FunctionTool = ResponseFunctionTool;
export type CustomTool = ResponseCustomTool;
export type ResponseError = ResponseErrorBody;
export type ResponseFormatTextConfig = ResponseTextFormat;
export type ResponseFormatTextJSONSchemaConfig = ResponseTextJSONSchema;

/** The event of a type. */
type EventOf<Type extends string, Event = ResponseStreamEvent> = Event extends {
  type: infer Types;
}
  ? Type extends Types
    ? Omit<Event, 'type'> & { type: Type }
    : never
  : never;

export type ResponseCreatedEvent = EventOf<'response.created'>;
export type ResponseQueuedEvent = EventOf<'response.queued'>;
export type ResponseInProgressEvent = EventOf<'response.in_progress'>;
export type ResponseCompletedEvent = EventOf<'response.completed'>;
export type ResponseIncompleteEvent = EventOf<'response.incomplete'>;
export type ResponseOutputItemAddedEvent = EventOf<'response.output_item.added'>;
export type ResponseOutputItemDoneEvent = EventOf<'response.output_item.done'>;
export type ResponseContentPartAddedEvent = EventOf<'response.content_part.added'>;
export type ResponseContentPartDoneEvent = EventOf<'response.content_part.done'>;
export type ResponseTextDeltaEvent = EventOf<'response.output_text.delta'>;
export type ResponseTextDoneEvent = EventOf<'response.output_text.done'>;
export type ResponseRefusalDeltaEvent = EventOf<'response.refusal.delta'>;
export type ResponseRefusalDoneEvent = EventOf<'response.refusal.done'>;
export type ResponseReasoningTextDeltaEvent = EventOf<'response.reasoning_text.delta'>;
export type ResponseReasoningSummaryTextDeltaEvent =
  EventOf<'response.reasoning_summary_text.delta'>;
export type ResponseFunctionCallArgumentsDeltaEvent =
  EventOf<'response.function_call_arguments.delta'>;
export type ResponseFunctionCallArgumentsDoneEvent =
  EventOf<'response.function_call_arguments.done'>;

/** The Responses API. */
export type Responses = responses.Responses;
// oxfmt-ignore
export declare namespace Responses {
  export {
    CustomTool, EasyInputMessage, FunctionTool, ModelResponse as Response, ParsedResponse,
    ResponseCodeInterpreterToolCall, ResponseCompletedEvent, ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent, ResponseCreateParams, ResponseCreateParamsBase,
    ResponseCreateParamsNonStreaming, ResponseCreateParamsStreaming, ResponseCreatedEvent,
    ResponseCustomToolCall, ResponseCustomToolCallOutput, ResponseError, ResponseFormatTextConfig,
    ResponseFormatTextJSONSchemaConfig, ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionCallArgumentsDoneEvent, ResponseFunctionCallOutput, ResponseFunctionToolCall,
    ResponseImageGenerationCall, ResponseInProgressEvent, ResponseIncompleteEvent, ResponseInput,
    ResponseInputAudio, ResponseInputContent, ResponseInputFile, ResponseInputImage,
    ResponseInputItem, ResponseInputText, ResponseItemReference, ResponseMcpApprovalRequest,
    ResponseMcpApprovalResponse, ResponseMcpCall, ResponseMcpListTools, ResponseOutputItem,
    ResponseOutputItemAddedEvent, ResponseOutputItemDoneEvent, ResponseOutputMessage,
    ResponseOutputRefusal, ResponseOutputText, ResponseQueuedEvent, ResponseReasoning,
    ResponseReasoningItem, ResponseReasoningSummaryTextDeltaEvent,
    ResponseReasoningTextDeltaEvent, ResponseRefusalDeltaEvent, ResponseRefusalDoneEvent,
    ResponseStatus, ResponseStreamEvent, ResponseTextConfig, ResponseTextDeltaEvent,
    ResponseTextDoneEvent, ResponseTool as Tool, ResponseToolChoice, ResponseUsage,
  };
}
