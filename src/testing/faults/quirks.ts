/**
 * Differences between gateways of this family. Every default is the common behaviour.
 *
 * `emulator.quirks` can be changed at any time and applies to later requests.
 */
export interface Quirks
  extends StreamQuirks, ChatQuirks, GenerateQuirks, MediaQuirks, VideoQuirks, AccountQuirks {
  /** Format of `GET /v1/models`; `failure` is `success: false` with status 200. @defaultValue "openai" */
  modelList: 'openai' | 'gemini' | 'anthropic' | 'failure';
  /** Send `X-Oneapi-Request-Id`; browsers cannot read it. @defaultValue true */
  requestIdHeader: boolean;
  /** Status for an invalid body; older builds use 500. @defaultValue 400 */
  invalidRequestStatus: 400 | 500;
  /** Status when the credit is used up; older builds use 401. @defaultValue 403 */
  exhaustedCreditStatus: 403 | 401;
  /** Honour requests for base64 embeddings; converting channels always send numbers. @defaultValue "honoured" */
  embeddingEncoding: 'honoured' | 'ignored';
  /** Order of the items in an embeddings response. @defaultValue "by-index" */
  embeddingOrder: 'by-index' | 'reversed';
  /** Handling of tokenized inputs; converting channels skip them silently. @defaultValue "embedded" */
  embeddingTokens: 'embedded' | 'skipped';
  /** Send `null` in place of each number of the first vector, as servers write `NaN`. @defaultValue false */
  embeddingBroken: boolean;
  /** Behaviour of the engine path; only old builds serve it. @defaultValue "contents-required" */
  enginePath: 'embeddings' | 'contents-required';
}

/** Format of event streams. */
export interface StreamQuirks {
  /** Line ending of event streams. @defaultValue "lf" */
  lineEnding: 'lf' | 'crlf' | 'cr';
  /** Sends a heartbeat comment before every n-th event, starting with the first; 0 for none. @defaultValue 0 */
  heartbeatEvery: number;
  /** Text of a heartbeat, without line endings. @defaultValue ": PING" */
  heartbeatText: string;
  /** Splits the bytes of a stream into chunks of this size; 0 for one chunk per event. @defaultValue 0 */
  streamChunkBytes: number;
  /** Delay before each event, in milliseconds. @defaultValue 0 */
  eventDelay: number;
}

/** Format of chat responses. */
export interface ChatQuirks {
  /** Content as a string or as a list of typed parts. @defaultValue "string" */
  chatContent: 'string' | 'parts';
  /**
   * Location of the reasoning. `thinking_blocks` are those of LiteLLM, whose last piece in a stream repeats the text
   * with the signature. @defaultValue "reasoning_content"
   */
  chatReasoning:
    | 'reasoning_content'
    | 'reasoning'
    | 'reasoning_text'
    | 'thinking_blocks'
    | 'think-tags';
  /**
   * Location of the usage in a stream; with `emptied`, a chunk with an empty one follows.
   * @defaultValue "last-chunk"
   */
  chatUsage: 'last-chunk' | 'finish-chunk' | 'both' | 'in-choice' | 'emptied' | 'missing';
  /**
   * Format of streamed tool calls: several deltas, one delta, deltas that repeat empty ids and names,
   * without an index, with indexes from 1, or with the arguments as an object. With `shared-index`, all calls
   * have index 0 and an empty id; with `repeated`, the whole arguments are sent again; with `cumulative`, each
   * delta repeats the ones before; with `bracket`, a `{` precedes the whole arguments; with `nameless`, the
   * name is empty; with `negative-index`, all calls have the index -1; with `halves`, the arguments have an index of
   * their own. In whole responses too, calls of `same-id` have one id, those of `unwrapped` no `function`, those of
   * `choices` a choice each, and those of `cut` half of their arguments; with `missing`, there is no call.
   * @defaultValue "split"
   */
  chatToolCalls:
    | 'split'
    | 'whole'
    | 'empty-names'
    | 'no-index'
    | 'from-one'
    | 'object'
    | 'shared-index'
    | 'repeated'
    | 'cumulative'
    | 'bracket'
    | 'nameless'
    | 'negative-index'
    | 'halves'
    | 'unwrapped'
    | 'choices'
    | 'cut'
    | 'missing'
    | 'same-id';
  /** Add a tool call without name and arguments. @defaultValue false */
  chatHollowCall: boolean;
  /**
   * Finish reason in place of the real one, for example `network_error`; "" for the real one. `null`, also as text, is
   * none in whole responses, and the real one at the end of streams. @defaultValue ""
   */
  chatFinishReason: string | null;
  /**
   * Send whole responses in `{ data, success: true }`, or on the line after an empty `data:`, which replaces
   * streams too. @defaultValue "plain"
   */
  chatEnvelope: 'plain' | 'data' | 'empty-data';
  /** The same in Gemini's format, for example `UNEXPECTED_TOOL_CALL`. @defaultValue "" */
  generateFinishReason: string;
  /** End streams with an event that repeats the whole message, as MiniMax does. @defaultValue false */
  chatMessageAtEnd: boolean;
  /** Number of parallel tool calls in a response, at most the number of tools. @defaultValue 1 */
  chatToolCallCount: number;
  /** Start streams with a chunk without choices, id and model. @defaultValue false */
  chatEmptyFirstChunk: boolean;
  /** Omit `id`, `created`, `model` and `object` in later chunks. @defaultValue false */
  chatBareChunks: boolean;
  /** Send the chunk with `finish_reason` twice. @defaultValue false */
  chatFinishTwice: boolean;
  /** Send `null` instead of empty `choices`. @defaultValue false */
  chatNullChoices: boolean;
  /** Format of `created`. @defaultValue "integer" */
  chatCreated: 'integer' | 'float' | 'string';
  /**
   * Treatment of `stream_options`; Databricks and Azure's serverless models reject it with 400 or, like FastAPI, 422.
   * @defaultValue "read"
   */
  chatStreamOptions: 'read' | 'rejected' | 'forbidden';
  /** End streams with `data: [DONE]`. @defaultValue true */
  chatDone: boolean;
  /** Respond to `stream: false` with events, or to `stream: true` with JSON. @defaultValue "as-asked" */
  chatMode: 'as-asked' | 'always-events' | 'always-json';
  /**
   * The provider whose error rejects a `response_format`, or a schema of `generate.content()`, that the model
   * does not support; see `structuredOutput` of models. @defaultValue "openai"
   */
  structuredOutputError: StructuredOutputDialect;
  /**
   * The text that chat models write around requested JSON: prose, reasoning without its first tag, one code
   * fence too many, a byte order mark, or the quotes of a JSON string. @defaultValue "plain"
   */
  structuredOutputText:
    | 'plain'
    | 'prose'
    | 'lost-think-tag'
    | 'double-fence'
    | 'byte-order-mark'
    | 'json-string';
}

/** Providers with their own error for unsupported structured output. */
export type StructuredOutputDialect =
  | 'openai'
  | 'azure'
  | 'cloudflare'
  | 'deepseek'
  | 'fastapi'
  | 'google'
  | 'groq'
  | 'siliconflow'
  | 'volcengine'
  | 'xai';

/** Format of responses of the generateContent routes. */
export interface GenerateQuirks {
  /** Keys in camel case or in snake case. @defaultValue "camel" */
  generateKeys: 'camel' | 'snake';
  /** Chunks of a stream with `usageMetadata`. @defaultValue "every-chunk" */
  generateUsage: 'every-chunk' | 'last-chunk' | 'missing';
  /** End of a stream: text and finish reason in one chunk, or an extra chunk without parts. @defaultValue "with-text" */
  generateFinish: 'with-text' | 'extra-chunk';
  /** End streams with `data: [DONE]`. @defaultValue false */
  generateDone: boolean;
}

/** Format of image and audio responses. */
export interface MediaQuirks {
  /**
   * Default format of images, unless `response_format` is set; `vendor` is `b64_json` for `gpt-image-…`
   * and Google's models, otherwise a URL. @defaultValue "vendor"
   */
  imageFormat: 'vendor' | 'url' | 'b64_json' | 'data-url';
  /**
   * Include every key in image items, with empty strings for missing values, as Google's models always
   * do. @defaultValue "present"
   */
  imageKeys: 'present' | 'all';
  /** Encoding of image bytes in JSON, also in streams. @defaultValue "plain" */
  imageEncoding: ImageEncoding;
  /**
   * Place of the images in a response that is not a stream or a task. `file` is an image in place of JSON, and
   * `nowhere` a field that no client can know. @defaultValue "data"
   */
  imagePlace: ImagePlace;
  /** Number of images to omit from each response, like a safety filter. @defaultValue 0 */
  imagesFiltered: number;
  /**
   * Response to `stream: true` for images; most builds do not pass it on. `result` is one event with the whole
   * response, and `result-always` also without a request for a stream. @defaultValue "json"
   */
  imageStream: 'completed' | 'partial' | 'result' | 'result-always' | 'json';
  /** Reject `response_format` as an unknown parameter. @defaultValue false */
  imageFormatRefused: boolean;
  /**
   * Respond to image calls with a task, in one of these shapes. Each shape has its own route, like the
   * gateways that use it: `list` (`data: [{ task_id }]`), `several` (one task for each image), `text` (the
   * id as text) and `task-info` (`task_info: { id }`) `/v1/images/tasks/{id}`, `object` `/v1/images/generations/{id}`, `data` (`data: { task_id }`)
   * `/v1/tasks/{id}`, `accepted` (an empty 202) the `Location` that it names, `status-url` the URLs of a
   * queue, `polling-url` a URL whose query has the id, other parameters and a secret. The URL of `foreign-url` is on another origin; `foreign-url` and `nowhere` have no route. A prompt
   * with `markers.fail` fails. @defaultValue "none"
   */
  imageTasks: ImageTaskShape;
  /**
   * Send an error beside the result of a completed task, such as a lower quality than requested, for images and
   * videos. @defaultValue false
   */
  taskRemark: boolean;
  /** Repeat the request, with the URLs of its files, beside the result of a task, as kie does. @defaultValue false */
  taskRequest: boolean;
  /**
   * End of speech and of downloaded videos. `error` is the gateway's error behind the first half, as One API and One
   * Hub send it if the vendor breaks off, and `cut` the first half alone; both without a length. @defaultValue "whole"
   */
  fileEnd: 'whole' | 'cut' | 'error';
  /**
   * Speech and downloaded videos, with status 200 and the type of the file: the file itself, or in its place a page or
   * the XML of a store's error. @defaultValue "file"
   */
  fileBody: 'file' | 'page' | 'xml';
  /** Time that an image task takes, in milliseconds of the emulator's clock. @defaultValue 3000 */
  imageTaskTime: number;
  /**
   * Place of speech: a file, a field of JSON with base64, hexadecimal digits or a URL, the message of a chat
   * completion, a part in Gemini's format, or a stream that was not requested: OpenAI's, MiniMax's, whose last
   * event repeats the audio, or sglang-omni's chunks. @defaultValue "file"
   */
  speechPlace: SpeechPlace;
  /**
   * Form of a transcript that is not streamed: the documented one, a JSON string of it, the field `text` of JSON
   * whatever the requested format, or JSON inside a JSON string. @defaultValue "plain"
   */
  transcriptForm: TranscriptForm;
  /**
   * Form of the segments of a transcript: a list, a list inside an object, or a list with a `null`.
   * @defaultValue "list"
   */
  transcriptSegments: 'list' | 'nested' | 'null';
  /**
   * Events of a streamed transcript: OpenAI's, vLLM's chunks, Mistral's, or text in place of a stream.
   * @defaultValue "openai"
   */
  transcriptStream: 'openai' | 'vllm' | 'mistral' | 'text';
  /**
   * Refuse uploads that strict gateways refuse: `.opus` and `.oga`, `image/jpg`, and control characters in file names.
   * @defaultValue false
   */
  strictUploads: boolean;
  /** Content type of speech: the correct one, a generic one, or none. @defaultValue "true" */
  speechType: 'true' | 'octet-stream' | 'missing';
  /** Send speech in the response, or redirect to a file. @defaultValue "body" */
  speechDelivery: 'body' | 'redirect';
  /**
   * Response to a translation as `vtt`: subtitles or JSON; `vendor` is JSON for OpenAI's models
   * (`whisper-1`), otherwise subtitles. @defaultValue "vendor"
   */
  translationVtt: 'vendor' | 'text' | 'json';
  /** Origin of files: the gateway's or another one. @defaultValue "same" */
  fileOrigin: 'same' | 'other';
}

/**
 * Format of video tasks.
 *
 * The defaults are those of `m-video` and of all models without a known vendor: a channel that serves
 * every operation. Models with a known vendor, by their name or `vendor` (`sora-2`, `kling-v1`,
 * `wan2.5-t2v-preview`, `viduq1`, `MiniMax-Hailuo-02`, `jimeng_v30`, `veo-3.0-generate-001`,
 * `doubao-seedance-1-0-pro-250528`), behave as that vendor's channel on a real gateway. Quirks set to a
 * value other than their default take precedence.
 */
export interface VideoQuirks {
  /** Status of an accepted submission. @defaultValue 200 */
  videoSubmitStatus: 200 | 201;
  /**
   * Response to a poll of a task that is not completed, for images and videos: its status, or a 202 with this body.
   * @defaultValue "status"
   */
  taskPending: 'status' | 'empty' | 'null' | 'text' | 'page';
  /**
   * Location of the task id; the names from `requestId` on are those of submissions alone. `both` means `id` and `task_id` in the response to a submission and `id` in
   * later ones, `both-always` both in every one. @defaultValue "both"
   */
  videoId:
    | 'both'
    | 'both-always'
    | 'id'
    | 'task_id'
    | 'video_id'
    | 'data.task_id'
    | 'data.id'
    | 'requestId'
    | 'generation_id'
    | 'jobId'
    | 'queue_id'
    | 'name'
    | 'Resp.video_id'
    | 'Response.JobId';
  /** Send the provider's own id as `task_id` in later responses. @defaultValue false */
  videoForeignId: boolean;
  /**
   * Route of the status: `path` is `GET /v1/videos/{task_id}`, and `body` is `POST /v1/videos/status` with
   * `{ task_id }`. @defaultValue "path"
   */
  videoStatusRoute: 'path' | 'body';
  /**
   * Id that the content route takes. With `generation`, it is `generations[0].id` of a completed task, as at
   * Azure. @defaultValue "task"
   */
  videoContentId: 'task' | 'generation';
  /**
   * Values of the status for `unknown`, `queued`, `in_progress`, `completed` and `failed`, for example
   * `{ completed: "succeed" }`. @defaultValue `{}`
   */
  videoStatuses: Readonly<Partial<Record<VideoState, string>>>;
  /** Location of `status`: at the top level or in `data`. @defaultValue "top" */
  videoNesting: 'top' | 'data';
  /** Progress as `85`, as `"85%"`, or omitted. @defaultValue "integer" */
  videoProgress: 'integer' | 'percent' | 'missing';
  /** Times in seconds, in milliseconds, or in milliseconds only after the submission. @defaultValue "seconds" */
  videoTimes: 'seconds' | 'milliseconds' | 'milliseconds-later';
  /** Include every key in later responses, with `null` for missing values, like Sora. @defaultValue "present" */
  videoKeys: 'present' | 'all';
  /** Model in later responses: its name or an empty string. @defaultValue "named" */
  videoModel: 'named' | 'empty';
  /** Include `seconds` and `size`, only `seconds` of a completed task, or neither. @defaultValue "always" */
  videoLength: 'always' | 'completed' | 'missing';
  /** Include `usage` in a completed task. @defaultValue false */
  videoUsage: boolean;
  /** Location of the result's URL in a completed task. @defaultValue "metadata.url" */
  videoUrl:
    | 'metadata.url'
    | 'url'
    | 'video_url'
    | 'data-url'
    | 'result.videos'
    | 'results.videos'
    | 'video_result'
    | 'assets.video'
    | 'output.works'
    | 'content.result_url'
    | 'missing';
  /**
   * Value at that location before completion: none, an empty string, a sentence, or an empty string that
   * becomes the reason of a failure. @defaultValue "missing"
   */
  videoUrlBefore: 'missing' | 'empty' | 'sentence' | 'reason';
  /** Format of the error of a failed task; `always` sends an error until a task is completed. @defaultValue "object" */
  videoError: 'object' | 'always' | 'numeric-code' | 'string' | 'fail_reason' | 'null' | 'missing';
  /**
   * A failed task, also of images: with a status of its own, completed with an error and an empty URL, completed with an error as
   * text, withheld by moderation, with a numeric flag, or as Veo sends it: completed, with the reasons of its filter.
   * @defaultValue "status"
   */
  videoFailure:
    | 'status'
    | 'error-inside'
    | 'text-inside'
    | 'moderation'
    | 'success-flag'
    | 'filtered';
  /** Set `completed_at` before the end, too. @defaultValue false */
  videoEarlyEnd: boolean;
  /** Read `seconds` of a JSON body, or ignore it and use the vendor's default length. @defaultValue "read" */
  videoJsonSeconds: 'read' | 'ignored';
  /** Refund failed tasks: always, never, or unless a client polled them first. @defaultValue true */
  videoRefund: boolean | 'unless-polled';
  /**
   * Result of a remix: a version of the original; a new video from the prompt alone at the same price, as
   * from channels that do not support remixes; or the vendor's 404. @defaultValue "version"
   */
  videoRemix: 'version' | 'new' | 'not-found';
  /**
   * Result of a vendor error during the gateway's own poll (`markers.pollError`,
   * `emulator.videos.failPoll()`). The task fails and is refunded, but is shown as `{ error, id }` without a
   * status, as `unknown` for ever, or as `failed`. Or it continues: after one poll with `failed`, or
   * unaffected. @defaultValue "no-status"
   */
  videoPollError: 'no-status' | 'unknown' | 'failed' | 'failed-first' | 'none';
  /**
   * Maximum number of content downloads within a minute of the emulator's clock; further ones receive an
   * empty 429 without `Retry-After`. 0 for no limit. @defaultValue 10
   */
  contentLimit: number;
  /**
   * Status of the content route for a completed task. Gateways without the route, or that may not reach the vendor's
   * host, return an error, and the task's own URL is the only place of the video. @defaultValue 200
   */
  contentStatus: 200 | 403 | 404 | 405 | 410 | 500 | 501 | 502;
  /** Send content in the response, or redirect to another origin. @defaultValue "body" */
  contentDelivery: 'body' | 'redirect';
  /** Support for `Range`; many builds ignore it but send `Accept-Ranges`. @defaultValue "ignored" */
  contentRange: 'ignored' | 'honoured';
  /** Content type of the content route. @defaultValue "video/mp4" */
  contentType: 'video/mp4' | 'application/octet-stream';
  /** Send `Content-Length` on the content route. @defaultValue true */
  contentLength: boolean;
  /** Require a key on the content route. @defaultValue false */
  contentNeedsKey: boolean;
  /**
   * Body of the vendor's status route: `task` is the gateway's own record, `old-task` one of an old build
   * with the URL in `fail_reason`, `simple` the short form, `flat` the short form without the wrapper,
   * `native` the vendor's body, `null` an empty record, `video` the same object as on `/v1/videos`.
   * @defaultValue "task"
   */
  vendorBody: 'task' | 'old-task' | 'simple' | 'flat' | 'native' | 'null' | 'video';
}

/** Account routes and the content of the usage log. */
export interface AccountQuirks {
  /**
   * Available routes: `log` is `/api/log/token`, `usage` is `/api/usage/token/`, `billing` the two under
   * `/v1/dashboard/billing`, `pricing` is `/api/pricing`, `status` is `/api/status` with the value of a unit of
   * quota. @defaultValue all of them
   */
  accountRoutes: readonly ('log' | 'usage' | 'billing' | 'pricing' | 'status')[];
  /** Delay until a log entry is visible, in milliseconds of the emulator's clock. @defaultValue 0 */
  usageLogDelay: number;
  /** Maximum number of entries sent, newest first; there is no pagination. @defaultValue 1000 */
  usageLogEntries: number;
  /**
   * Maximum number of reads of log and usage within 20 minutes of the emulator's clock, across all keys;
   * further ones receive an empty 429 without `Retry-After`. 0 for no limit.
   * @defaultValue 20
   */
  usageLogLimit: number;
  /** Log charges; an operator can disable this. @defaultValue true */
  usageLogCharges: boolean;
  /** Log failed requests, with amount 0. @defaultValue false */
  usageLogErrors: boolean;
  /** Include the video task in entries of charges, as in refunds. @defaultValue false */
  usageLogTaskIds: boolean;
  /**
   * Location of the cost that responses report, in US dollars at 500,000 credit units each: `usage.cost`,
   * for a video once it is completed; or the header `x-litellm-response-cost` of responses that are charged
   * and not streamed. An emulated LiteLLM sends it for `generate`, edits, speech and videos only if the name of
   * the model is a vendor's (`tts-1`), and reports the cost of a chat stream in the usage of its last chunk.
   * @defaultValue "none"
   */
  reportedCost: 'none' | 'usage' | 'header';
}

/** An encoding of image bytes. */
export type ImageEncoding = 'plain' | 'data-url' | 'url-safe' | 'line-breaks' | 'no-padding';

/** The place of speech in a response. */
export type SpeechPlace =
  | 'file'
  | 'audio_data'
  | 'audio'
  | 'audio-hex'
  | 'data.audio'
  | 'output.audio.data'
  | 'output.audio.url'
  | 'message.audio'
  | 'inlineData'
  | 'events'
  | 'data-events'
  | 'chunk-events';

/** The form of a transcript that is not streamed. */
export type TranscriptForm = 'plain' | 'json-string' | 'in-json' | 'doubled-json';

/** The place of images in a response; see `docs/wire.md` for the gateways that use them. */
export type ImagePlace =
  | 'data'
  | 'images'
  | 'image-texts'
  | 'output.results'
  | 'message-content'
  | 'result.image'
  | 'artifacts'
  | 'data-texts'
  | 'message.images'
  | 'markdown'
  | 'inlineData'
  | 'predictions'
  | 'data.data'
  | 'data.image_urls'
  | 'data.images'
  | 'data.image_url'
  | 'file'
  | 'nowhere';

/** The shape of a response with an image task. */
export type ImageTaskShape =
  | 'none'
  | 'list'
  | 'several'
  | 'text'
  | 'object'
  | 'data'
  | 'accepted'
  | 'status-url'
  | 'polling-url'
  | 'task-info'
  | 'foreign-url'
  | 'nowhere';

/** States of a video task in the emulator. */
export type VideoState = 'unknown' | 'queued' | 'in_progress' | 'completed' | 'failed';

/** The common behaviour. */
export const defaultQuirks: Quirks = {
  modelList: 'openai',
  requestIdHeader: true,
  invalidRequestStatus: 400,
  exhaustedCreditStatus: 403,
  embeddingEncoding: 'honoured',
  embeddingOrder: 'by-index',
  embeddingTokens: 'embedded',
  embeddingBroken: false,
  enginePath: 'contents-required',
  lineEnding: 'lf',
  heartbeatEvery: 0,
  heartbeatText: ': PING',
  streamChunkBytes: 0,
  eventDelay: 0,
  chatContent: 'string',
  chatReasoning: 'reasoning_content',
  chatUsage: 'last-chunk',
  chatToolCalls: 'split',
  chatToolCallCount: 1,
  chatHollowCall: false,
  chatFinishReason: '',
  chatEnvelope: 'plain',
  generateFinishReason: '',
  chatMessageAtEnd: false,
  chatEmptyFirstChunk: false,
  chatBareChunks: false,
  chatFinishTwice: false,
  chatNullChoices: false,
  chatCreated: 'integer',
  chatStreamOptions: 'read',
  chatDone: true,
  chatMode: 'as-asked',
  structuredOutputError: 'openai',
  structuredOutputText: 'plain',
  generateKeys: 'camel',
  generateUsage: 'every-chunk',
  generateFinish: 'with-text',
  generateDone: false,
  imageFormat: 'vendor',
  imageKeys: 'present',
  imageEncoding: 'plain',
  imagePlace: 'data',
  imagesFiltered: 0,
  imageStream: 'json',
  imageFormatRefused: false,
  imageTasks: 'none',
  taskRemark: false,
  taskRequest: false,
  fileEnd: 'whole',
  fileBody: 'file',
  imageTaskTime: 3_000,
  speechPlace: 'file',
  transcriptForm: 'plain',
  transcriptSegments: 'list',
  transcriptStream: 'openai',
  strictUploads: false,
  speechType: 'true',
  speechDelivery: 'body',
  translationVtt: 'vendor',
  fileOrigin: 'same',
  videoSubmitStatus: 200,
  taskPending: 'status',
  videoId: 'both',
  videoForeignId: false,
  videoStatusRoute: 'path',
  videoContentId: 'task',
  videoStatuses: {},
  videoNesting: 'top',
  videoProgress: 'integer',
  videoTimes: 'seconds',
  videoKeys: 'present',
  videoModel: 'named',
  videoLength: 'always',
  videoUsage: false,
  videoUrl: 'metadata.url',
  videoUrlBefore: 'missing',
  videoError: 'object',
  videoFailure: 'status',
  videoEarlyEnd: false,
  videoJsonSeconds: 'read',
  videoRefund: true,
  videoRemix: 'version',
  videoPollError: 'no-status',
  contentLimit: 10,
  contentStatus: 200,
  contentDelivery: 'body',
  contentRange: 'ignored',
  contentType: 'video/mp4',
  contentLength: true,
  contentNeedsKey: false,
  vendorBody: 'task',
  accountRoutes: ['log', 'usage', 'billing', 'pricing', 'status'],
  usageLogDelay: 0,
  usageLogEntries: 1_000,
  usageLogLimit: 20,
  usageLogCharges: true,
  usageLogErrors: false,
  usageLogTaskIds: false,
  reportedCost: 'none',
};
