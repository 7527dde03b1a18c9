/**
 * Behaviour in which gateways of this family differ. Every default is the common behaviour.
 *
 * `emulator.quirks` can be changed at any time and holds for the requests that come after.
 */
export interface Quirks
  extends StreamQuirks, ChatQuirks, GenerateQuirks, MediaQuirks, VideoQuirks, AccountQuirks {
  /** The shape of `GET /v1/models`; `failure` is `success: false` with status 200. @defaultValue "openai" */
  modelList: 'openai' | 'gemini' | 'anthropic' | 'failure';
  /** Whether answers carry `X-Oneapi-Request-Id`; browsers cannot read it. @defaultValue true */
  requestIdHeader: boolean;
  /** Status of a refused body; older builds say 500. @defaultValue 400 */
  invalidRequestStatus: 400 | 500;
  /** Status when the credit is used up; older builds say 401. @defaultValue 403 */
  exhaustedCreditStatus: 403 | 401;
  /** Whether base64 embeddings are given when asked; converting channels always send numbers. @defaultValue "honoured" */
  embeddingEncoding: 'honoured' | 'ignored';
  /** The order of the items of an embeddings answer. @defaultValue "by-index" */
  embeddingOrder: 'by-index' | 'reversed';
  /** What becomes of inputs that are tokens; converting channels skip them without a word. @defaultValue "embedded" */
  embeddingTokens: 'embedded' | 'skipped';
  /** What the engine path does; only old builds serve it. @defaultValue "contents-required" */
  enginePath: 'embeddings' | 'contents-required';
}

/** How event streams are written. */
export interface StreamQuirks {
  /** What ends a line of an event stream. @defaultValue "lf" */
  lineEnding: 'lf' | 'crlf' | 'cr';
  /** Sends a heartbeat comment before every n-th event, from the first on; 0 for none. @defaultValue 0 */
  heartbeatEvery: number;
  /** The text of a heartbeat, without line ends. @defaultValue ": PING" */
  heartbeatText: string;
  /** Cuts the bytes of a stream into pieces of this size, wherever that falls; 0 for one piece per event. @defaultValue 0 */
  pieceBytes: number;
  /** How long to wait before each event, in milliseconds. @defaultValue 0 */
  eventDelay: number;
}

/** How chat answers look. */
export interface ChatQuirks {
  /** Whether the answer text is a string or a list of typed parts. @defaultValue "string" */
  chatContent: 'string' | 'parts';
  /** Where reasoning models put their thoughts. @defaultValue "reasoning_content" */
  chatReasoning: 'reasoning_content' | 'reasoning' | 'think-tags';
  /** Where a stream carries its usage. @defaultValue "last-chunk" */
  chatUsage: 'last-chunk' | 'finish-chunk' | 'both' | 'in-choice' | 'missing';
  /**
   * How tool calls are streamed: in pieces, in one delta, in pieces that repeat empty ids and names,
   * without an index, counted from 1, or with the arguments as an object. @defaultValue "split"
   */
  chatToolCalls: 'split' | 'whole' | 'empty-names' | 'no-index' | 'from-one' | 'object';
  /** How many tools a chat answer calls at once, as far as there are tools. @defaultValue 1 */
  chatToolCallCount: number;
  /** A stream that begins with a chunk without choices, id and model. @defaultValue false */
  chatEmptyFirstChunk: boolean;
  /** Leaves `id`, `created`, `model` and `object` out of later chunks. @defaultValue false */
  chatBareChunks: boolean;
  /** Sends the chunk with `finish_reason` twice. @defaultValue false */
  chatFinishTwice: boolean;
  /** Whether `choices` is `null` where it has no elements. @defaultValue false */
  chatNullChoices: boolean;
  /** `created` as a whole number, with a fraction, or as text. @defaultValue "integer" */
  chatCreated: 'integer' | 'float' | 'string';
  /** Whether a stream ends with `data: [DONE]`. @defaultValue true */
  chatDone: boolean;
  /** Answers `stream: false` with events, or `stream: true` with JSON. @defaultValue "as-asked" */
  chatMode: 'as-asked' | 'always-events' | 'always-json';
}

/** How answers of the generateContent routes look. */
export interface GenerateQuirks {
  /** Keys in camel case or in snake case. @defaultValue "camel" */
  generateKeys: 'camel' | 'snake';
  /** Which chunks of a stream carry `usageMetadata`. @defaultValue "every-chunk" */
  generateUsage: 'every-chunk' | 'last-chunk' | 'missing';
  /** How a stream ends: with text and reason in one chunk, or with an extra chunk without parts. @defaultValue "with-text" */
  generateFinish: 'with-text' | 'extra-chunk';
  /** Whether a stream ends with `data: [DONE]`. @defaultValue false */
  generateDone: boolean;
}

/** How image and audio answers look. */
export interface MediaQuirks {
  /**
   * What an image item holds unless `response_format` asks for something; `vendor` is `b64_json` for
   * `gpt-image-…` and models of Google, otherwise an address. @defaultValue "vendor"
   */
  imageFormat: 'vendor' | 'url' | 'b64_json' | 'data-url';
  /**
   * Whether items carry every key, with empty strings for what is missing, as those of Google always
   * do. @defaultValue "present"
   */
  imageKeys: 'present' | 'all';
  /** How many images are left out of each answer, as a safety filter does. @defaultValue 0 */
  imagesFiltered: number;
  /** What `stream: true` gives for images; most builds do not pass it on. @defaultValue "json" */
  imageStream: 'completed' | 'partial' | 'json';
  /** Whether `response_format` is refused as an unknown parameter. @defaultValue false */
  imageFormatRefused: boolean;
  /** Content type of speech: the true one, a general one, or none. @defaultValue "true" */
  speechType: 'true' | 'octet-stream' | 'missing';
  /** Speech as the answer itself, or as a redirect to a file. @defaultValue "body" */
  speechDelivery: 'body' | 'redirect';
  /**
   * The answer to a translation as `vtt`: subtitles, or JSON; `vendor` is JSON for OpenAI's models
   * (`whisper-1`), otherwise subtitles. @defaultValue "vendor"
   */
  translationVtt: 'vendor' | 'text' | 'json';
  /** Whether files are served from another origin than the gateway. @defaultValue "same" */
  fileOrigin: 'same' | 'other';
}

/**
 * How video tasks look on the wire.
 *
 * The defaults are those of `m-video` and of every model of no known vendor: a channel that serves each
 * operation. A model whose name or `vendor` tells its vendor (`sora-2`, `kling-v1`,
 * `wan2.5-t2v-preview`, `viduq1`, `MiniMax-Hailuo-02`, `jimeng_v30`, `veo-3.0-generate-001`,
 * `doubao-seedance-1-0-pro-250528`) behaves as that vendor's channel does on a real gateway; a quirk
 * that is set to anything but its default wins.
 */
export interface VideoQuirks {
  /** Status of an accepted submission. @defaultValue 200 */
  videoSubmitStatus: 200 | 201;
  /**
   * Where bodies carry the task id; `both` means `id` and `task_id` in the answer to a submission and
   * `id` in later ones, `both-always` the two in every one. @defaultValue "both"
   */
  videoId: 'both' | 'both-always' | 'id' | 'task_id' | 'video_id' | 'data.task_id' | 'data.id';
  /** Whether later bodies carry the provider's own id as `task_id`. @defaultValue false */
  videoForeignId: boolean;
  /**
   * The status words for `unknown`, `queued`, `in_progress`, `completed` and `failed`, for example
   * `{ completed: "succeed" }`. @defaultValue `{}`
   */
  videoWords: Readonly<Partial<Record<VideoState, string>>>;
  /** Whether `status` is at the top or inside `data`. @defaultValue "top" */
  videoNesting: 'top' | 'data';
  /** Progress as `85`, as `"85%"`, or not at all. @defaultValue "integer" */
  videoProgress: 'integer' | 'percent' | 'missing';
  /** Times in seconds or in milliseconds, or in those only after the submission. @defaultValue "seconds" */
  videoTimes: 'seconds' | 'milliseconds' | 'milliseconds-later';
  /** Whether later bodies carry every key, with `null` for what is missing, as Sora's do. @defaultValue "present" */
  videoKeys: 'present' | 'all';
  /** Whether later bodies name the model or hold an empty string. @defaultValue "named" */
  videoModel: 'named' | 'empty';
  /** Whether bodies carry `seconds` and `size`, only `seconds` of a completed task, or neither. @defaultValue "always" */
  videoLength: 'always' | 'completed' | 'missing';
  /** Whether a completed task carries a `usage`. @defaultValue false */
  videoUsage: boolean;
  /** Where a completed task carries the address of its result. @defaultValue "metadata.url" */
  videoUrl: 'metadata.url' | 'url' | 'video_url' | 'data-url' | 'missing';
  /**
   * What that place holds before: nothing, an empty string, a sentence, or an empty string that
   * becomes the reason of a failure. @defaultValue "missing"
   */
  videoUrlBefore: 'missing' | 'empty' | 'sentence' | 'reason';
  /** How a failed task says why; `always` sends an error on every task that is not completed. @defaultValue "object" */
  videoError: 'object' | 'always' | 'numeric-code' | 'string' | 'fail_reason' | 'null' | 'missing';
  /** Whether `completed_at` is set before the end too. @defaultValue false */
  videoEarlyEnd: boolean;
  /** Whether `seconds` of a JSON body is read, or ignored: the vendor then makes its usual length. @defaultValue "read" */
  videoJsonSeconds: 'read' | 'ignored';
  /** Whether the charge of a failed task is given back, or only if no client polled it first. @defaultValue true */
  videoRefund: boolean | 'unless-polled';
  /**
   * What a remix gives: a version of the original; a new video from the prompt alone, charged all the
   * same, as channels do that cannot remix; or the vendor's 404. @defaultValue "version"
   */
  videoRemix: 'version' | 'new' | 'not-found';
  /**
   * What becomes of a task whose vendor stumbled once on the gateway's own poll (`markers.stumble`,
   * `emulator.videos.stumble()`). It fails and is given back: shown for ever as `{ error, id }`
   * without a status, for ever as `unknown`, or as `failed`. Or it goes on: after one poll that says
   * `failed`, or as if nothing had been. @defaultValue "no-status"
   */
  videoStumble: 'no-status' | 'unknown' | 'failed' | 'failed-first' | 'none';
  /**
   * How many downloads of content a client may begin within a minute of the emulator's clock; the next
   * is answered by an empty 429 without `Retry-After`. 0 for no limit. @defaultValue 10
   */
  contentLimit: number;
  /** The content as the answer itself, or as a redirect to another origin. @defaultValue "body" */
  contentDelivery: 'body' | 'redirect';
  /** Whether `Range` is honoured; many builds ignore it and still send `Accept-Ranges`. @defaultValue "ignored" */
  contentRange: 'ignored' | 'honoured';
  /** The content type of the content. @defaultValue "video/mp4" */
  contentType: 'video/mp4' | 'application/octet-stream';
  /** Whether the content route states `Content-Length`. @defaultValue true */
  contentLength: boolean;
  /** Whether the content route asks for a key. @defaultValue false */
  contentNeedsKey: boolean;
  /**
   * The body of the vendor's status route: `task` is the gateway's own record, `old-task` one of an
   * old build with the address in `fail_reason`, `simple` the short form, `flat` the short form
   * without the wrapper, `native` the vendor's body, `null` an empty record, `video` the same object
   * as on `/v1/videos`. @defaultValue "task"
   */
  vendorBody: 'task' | 'old-task' | 'simple' | 'flat' | 'native' | 'null' | 'video';
}

/** Which routes of the account there are, and what its books hold. */
export interface AccountQuirks {
  /**
   * The routes that the gateway has: `books` is `/api/log/token`, `usage` is `/api/usage/token/`, `billing`
   * the two below `/v1/dashboard/billing`, `pricing` is `/api/pricing`. @defaultValue all of them
   */
  accountRoutes: readonly ('books' | 'usage' | 'billing' | 'pricing')[];
  /** How late a line can be read, in milliseconds of the emulator's clock. @defaultValue 0 */
  booksLag: number;
  /** How many lines are sent, the newest; there are no pages. @defaultValue 1000 */
  booksLines: number;
  /**
   * How often books and usage may be read within 20 minutes of the emulator's clock, by all keys
   * together; the next is answered by an empty 429 without `Retry-After`. 0 for no limit.
   * @defaultValue 20
   */
  booksLimit: number;
  /** Whether charges are written down; an operator can switch that off. @defaultValue true */
  booksCharges: boolean;
  /** Whether requests that failed are written down, with the amount 0. @defaultValue false */
  booksErrors: boolean;
  /** Whether the line of a charge names the video task, as those of refunds do. @defaultValue false */
  booksNameTasks: boolean;
}

/** The states that a video task of the emulator goes through. */
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
  enginePath: 'contents-required',
  lineEnding: 'lf',
  heartbeatEvery: 0,
  heartbeatText: ': PING',
  pieceBytes: 0,
  eventDelay: 0,
  chatContent: 'string',
  chatReasoning: 'reasoning_content',
  chatUsage: 'last-chunk',
  chatToolCalls: 'split',
  chatToolCallCount: 1,
  chatEmptyFirstChunk: false,
  chatBareChunks: false,
  chatFinishTwice: false,
  chatNullChoices: false,
  chatCreated: 'integer',
  chatDone: true,
  chatMode: 'as-asked',
  generateKeys: 'camel',
  generateUsage: 'every-chunk',
  generateFinish: 'with-text',
  generateDone: false,
  imageFormat: 'vendor',
  imageKeys: 'present',
  imagesFiltered: 0,
  imageStream: 'json',
  imageFormatRefused: false,
  speechType: 'true',
  speechDelivery: 'body',
  translationVtt: 'vendor',
  fileOrigin: 'same',
  videoSubmitStatus: 200,
  videoId: 'both',
  videoForeignId: false,
  videoWords: {},
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
  videoEarlyEnd: false,
  videoJsonSeconds: 'read',
  videoRefund: true,
  videoRemix: 'version',
  videoStumble: 'no-status',
  contentLimit: 10,
  contentDelivery: 'body',
  contentRange: 'ignored',
  contentType: 'video/mp4',
  contentLength: true,
  contentNeedsKey: false,
  vendorBody: 'task',
  accountRoutes: ['books', 'usage', 'billing', 'pricing'],
  booksLag: 0,
  booksLines: 1_000,
  booksLimit: 20,
  booksCharges: true,
  booksErrors: false,
  booksNameTasks: false,
};
