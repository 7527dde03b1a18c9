import { expect, onTestFinished, test, vi } from 'vitest';
import { createReport } from '../../../src/programs/cli/doctor/report.ts';
import type { DoctorReport } from '../../../src/programs/cli/doctor/report-schema.ts';
import { readGateway } from '../../../src/gateways/index.ts';
import {
  createEmulator,
  defaultQuirks,
  type Emulator,
  type EmulatorOptions,
  type Quirks,
} from '../../../src/testing/index.ts';
import { settle } from '../../helpers/fake-time.ts';
import { someOf } from '../../helpers/some-cases.ts';

/** A quirk that a report shows. */
interface Seen {
  /** A row of the report, and what it says. */
  readonly row: string;
  readonly says: RegExp;
  /** The paid calls that are needed; none for a free row. */
  readonly calls?: readonly string[];
  readonly options?: EmulatorOptions;
  /** `true` if the report waits for something. */
  readonly waits?: true;
  /** Changes the emulator once a video is submitted. */
  readonly onVideo?: (emulator: Emulator, id: string) => void;
  /** Changes the emulator before the report. */
  readonly prepare?: (emulator: Emulator) => void;
}

/** By the quirk, each of its values other than the default: how a report shows it, or why it cannot. */
type Table = {
  readonly [Name in keyof Quirks]: readonly (readonly [
    value: Quirks[Name],
    ...(readonly [Seen] | readonly [why: string, unseen: true]),
  ])[];
};

const stream = { calls: ['chat-stream'], row: 'call.chat-stream' } as const;
const end = { calls: ['chat-stream'], row: 'call.chat-stream-end' } as const;
const chat = { calls: ['chat'], row: 'call.chat' } as const;
const tools = { calls: ['tools'], row: 'call.tools' } as const;
const image = { calls: ['image'], row: 'call.image' } as const;
const bytes = { ...image, options: { quirks: { imageFormat: 'b64_json' } } } as const;
const task = { waits: true, calls: ['image'], row: 'call.image-task' } as const;
const speech = { calls: ['speech'], row: 'call.speech' } as const;
const transcript = { calls: ['transcription'], row: 'call.transcription' } as const;
const subtitles = { calls: ['translation'], row: 'call.translation' } as const;
const streamed = { calls: ['transcription-stream'], row: 'call.transcription-stream' } as const;
const video = { waits: true, calls: ['video'], row: 'call.video' } as const;
const content = {
  waits: true,
  calls: ['video', 'video-content'],
  row: 'call.video-content',
} as const;
const vendor = { waits: true, calls: ['video', 'video-vendor'], row: 'call.video-vendor' } as const;
const log = { waits: true, calls: ['embeddings'], row: 'usage-log-entries' } as const;
const object = { calls: ['json-object'], row: 'call.json-object' } as const;
const schema = { calls: ['json-schema'], row: 'call.json-schema' } as const;

const plain: EmulatorOptions = {
  models: [{ id: 'm-plain', structuredOutput: 'none' }],
};
const failVideo = (emulator: Emulator, id: string): void => emulator.videos.fail(id, 'Refused');
const failed = { ...video, onVideo: failVideo };

const table: Table = {
  modelList: [
    ['gemini', { row: 'model-kinds', says: /"models"/ }],
    ['anthropic', { row: 'model-kinds', says: /types: 8 model,/ }],
    ['failure', { row: 'models', says: /^fail/ }],
  ],
  requestIdHeader: [[false, { row: 'request-id', says: /^no/ }]],
  invalidRequestStatus: [
    [500, { calls: ['invalid-request'], row: 'call.invalid-request', says: /^pass 500/ }],
  ],
  exhaustedCreditStatus: [
    [401, { ...chat, options: { credit: 1 }, says: /^fail 401 insufficient_user_quota/ }],
  ],
  embeddingEncoding: [
    [
      'ignored',
      { calls: ['embeddings-base64'], row: 'call.embeddings-base64', says: /numbers in place of/ },
    ],
  ],
  embeddingOrder: [
    ['reversed', { calls: ['embeddings'], row: 'call.embeddings', says: /not in the order/ }],
  ],
  embeddingTokens: [
    [
      'skipped',
      { calls: ['embeddings-tokens'], row: 'call.embeddings-tokens', says: /^fail .*0 vectors/ },
    ],
  ],
  embeddingBroken: [
    [
      true,
      { calls: ['embeddings'], row: 'call.embeddings', says: /^fail 200; UnexpectedResponseError/ },
    ],
  ],
  enginePath: [
    ['embeddings', { calls: ['embeddings-engine'], row: 'call.embeddings-engine', says: /^pass/ }],
  ],
  lineEnding: [
    ['crlf', { ...stream, says: /lines end with CRLF/ }],
    ['cr', { ...stream, says: /lines end with CR$/ }],
  ],
  heartbeatEvery: [[2, { ...stream, says: /heartbeats ": PING"/ }]],
  heartbeatText: [
    [': alive', { ...stream, options: { quirks: { heartbeatEvery: 3 } }, says: /": alive"/ }],
  ],
  streamChunkBytes: [
    [7, 'TCP, TLS and proxies cut and join the pieces of a stream anywhere.', true],
  ],
  eventDelay: [
    [100, { ...stream, waits: true, row: 'streaming', says: /^ok the stream arrives in/ }],
  ],
  chatContent: [['parts', { ...chat, says: /content is a list of parts/ }]],
  chatReasoning: [
    ['reasoning', { calls: ['reasoning'], row: 'call.reasoning', says: /in "reasoning"/ }],
    ['think-tags', { calls: ['reasoning'], row: 'call.reasoning', says: /in <think> tags/ }],
  ],
  chatUsage: [
    ['finish-chunk', { ...end, says: /usage with the finish reason$/ }],
    ['both', { ...end, says: /usage in the last chunk and with the finish reason/ }],
    ['in-choice', { ...end, says: /usage in the choice/ }],
    ['missing', { ...end, says: /no usage/ }],
  ],
  chatToolCalls: [
    ['whole', { ...tools, says: /each call in one delta/ }],
    ['empty-names', { ...tools, says: /empty names/ }],
    ['no-index', { ...tools, says: /no index/ }],
    ['from-one', { ...tools, says: /indexes begin at 1/ }],
    ['object', { ...tools, says: /arguments are an object/ }],
  ],
  chatToolCallCount: [[2, { ...tools, says: /2 calls in one response/ }]],
  chatHollowCall: [[true, 'The client drops the call.', true]],
  chatFinishReason: [['eos', 'Providers have many words for the end.', true]],
  chatEnvelope: [
    ['data', { ...chat, says: /^(?!.*no usage).*inside "data"/ }],
    ['empty-data', { ...chat, says: /events in place of JSON/ }],
  ],
  generateFinishReason: [['OTHER', 'Providers have many words for the end.', true]],
  chatMessageAtEnd: [[true, 'The client drops the message.', true]],
  chatEmptyFirstChunk: [[true, { ...stream, says: /first chunk has no choice/ }]],
  chatBareChunks: [[true, { ...stream, says: /later chunks have no id/ }]],
  chatFinishTwice: [[true, { ...end, says: /sent twice/ }]],
  chatNullChoices: [[true, { ...stream, says: /"choices" is null/ }]],
  chatCreated: [
    ['float', { ...chat, says: /"created" is float/ }],
    ['string', { ...chat, says: /"created" is text/ }],
  ],
  chatStreamOptions: [
    ['rejected', 'The client sends the request again without it.', true],
    ['forbidden', 'The client sends the request again without it.', true],
  ],
  chatDone: [[false, { ...end, says: /no \[DONE\]/ }]],
  chatMode: [
    ['always-events', { ...chat, says: /events in place of JSON/ }],
    ['always-json', { ...stream, says: /JSON in place of events/ }],
  ],
  structuredOutputError: [
    ['azure', { ...schema, options: plain, says: /^unsupported 400 BadRequest: .*api versions/ }],
    ['cloudflare', { ...schema, options: plain, says: /^unsupported 400 .*AiError: 5025/ }],
    ['deepseek', { ...schema, options: plain, says: /^unsupported 400 .*unavailable now/ }],
    ['fastapi', { ...schema, options: plain, says: /^unsupported 422.*Extra inputs/ }],
    ['google', { ...schema, options: plain, says: /^unsupported 400 INVALID_ARGUMENT/ }],
    ['groq', { ...schema, options: plain, says: /^unsupported 400 .*does not support response/ }],
    ['siliconflow', { ...schema, options: plain, says: /^unsupported 400 20024/ }],
    ['volcengine', { ...schema, options: plain, says: /^unsupported 400 InvalidParameter/ }],
    ['xai', { ...schema, options: plain, says: /^unsupported 422/ }],
  ],
  structuredOutputText: [
    ['prose', { ...object, says: /not a JSON object/ }],
    ['lost-think-tag', { ...object, says: /not a JSON object/ }],
    ['double-fence', { ...object, says: /not a JSON object/ }],
    ['byte-order-mark', { ...object, says: /not a JSON object/ }],
    ['json-string', { ...object, says: /not a JSON object/ }],
  ],
  generateKeys: [['snake', { calls: ['gemini'], row: 'call.gemini', says: /snake case/ }]],
  generateUsage: [
    [
      'last-chunk',
      { calls: ['gemini-stream'], row: 'call.gemini-stream', says: /last chunk alone/ },
    ],
    ['missing', { calls: ['gemini'], row: 'call.gemini', says: /no usage/ }],
  ],
  generateFinish: [
    ['extra-chunk', { calls: ['gemini-stream'], row: 'call.gemini-stream', says: /of its own/ }],
  ],
  generateDone: [
    [true, { calls: ['gemini-stream'], row: 'call.gemini-stream', says: /\[DONE\] at the end/ }],
  ],
  imageFormat: [
    [
      'url',
      {
        ...image,
        options: { models: [{ id: 'gpt-image-1', type: 'image' }] },
        says: /images as URLs/,
      },
    ],
    ['b64_json', { ...image, says: /images as base64/ }],
    ['data-url', { ...image, says: /images as data URLs/ }],
  ],
  imageKeys: [['all', { ...image, says: /with empty fields/ }]],
  imageEncoding: [
    ['data-url', { ...bytes, says: /base64 as a data URL/ }],
    ['url-safe', { ...bytes, says: /URL-safe base64/ }],
    ['line-breaks', { ...bytes, says: /base64 with line breaks/ }],
    ['no-padding', { ...bytes, says: /base64 without padding/ }],
  ],
  imagePlace: [
    ['images', { ...image, says: /^pass .*images at images\[\]\.url/ }],
    ['image-texts', { ...image, says: /^pass .*images at images\[\]/ }],
    ['output.results', { ...image, says: /^pass .*images at output\.results\[\]\.url/ }],
    [
      'message-content',
      { ...image, says: /^pass .*at output\.choices\[\]\.message\.content\[\]\.image/ },
    ],
    ['result.image', { ...image, says: /^pass .*images at result\.image/ }],
    ['artifacts', { ...image, says: /^pass .*images at artifacts\[\]\.base64/ }],
    ['data-texts', { ...image, says: /^pass .*images at data\[\]/ }],
    [
      'message.images',
      { ...image, says: /^pass .*at choices\[\]\.message\.images\[\]\.image_url\.url/ },
    ],
    ['markdown', { ...image, says: /^pass .*images at choices\[\]\.message\.content/ }],
    [
      'inlineData',
      { ...image, says: /^pass .*at candidates\[\]\.content\.parts\[\]\.inlineData\.data/ },
    ],
    ['predictions', { ...image, says: /^pass .*images at predictions\[\]\.bytesBase64Encoded/ }],
    ['data.data', { ...image, says: /^pass .*images at data\.data\[\]\.url/ }],
    ['data.image_urls', { ...image, says: /^pass .*images at data\.image_urls\[\]/ }],
    ['data.images', { ...image, says: /^pass .*images at data\.images\[\]\.url/ }],
    ['data.image_url', { ...image, says: /^pass .*images at data\[\]\.image_url/ }],
    ['file', { ...image, says: /^pass .*images as a file/ }],
    ['nowhere', { ...image, says: /^fail .*no image in the fields created, assets/ }],
  ],
  imagesFiltered: [[1, { ...image, says: /^fail/ }]],
  imageStream: [
    [
      'completed',
      { calls: ['image-stream'], row: 'call.image-stream', says: /^pass .*no partial/ },
    ],
    ['partial', { calls: ['image-stream'], row: 'call.image-stream', says: /200; partial images/ }],
    [
      'result',
      {
        calls: ['image-stream'],
        row: 'call.image-stream',
        says: /^pass .*whole responses as events/,
      },
    ],
    ['result-always', { ...image, says: /^pass 200; events in place of JSON/ }],
  ],
  imageFormatRefused: [
    [true, { calls: ['image-edit-form'], row: 'call.image-edit-form', says: /rejects response_f/ }],
  ],
  imageTasks: [
    ['list', { ...task, says: /^pass 200 code, data\[\]\.task_id.*images\/tasks\/\{id\}/ }],
    ['several', 'It differs from "list" only for several images; a report requests one.', true],
    ['text', { ...task, says: /^pass 200 code, description, result; .*tasks\/\{id\}/ }],
    [
      'object',
      { ...task, says: /^pass 200 id, object, status; \/v1\/images\/generations\/\{id\}/ },
    ],
    ['data', { ...task, says: /^pass 200 .*data\.task_id; \/v1\/tasks\/\{id\}/ }],
    ['accepted', { ...task, says: /^pass 202 without a body, header Location/ }],
    ['status-url', { ...task, says: /^pass 200 .*status_url/ }],
    ['polling-url', { ...task, says: /^pass 200 id, polling_url; \/v1\/get_result/ }],
    ['task-info', { ...task, says: /^pass 200 task_info\.id; .*images\/tasks\/\{id\}/ }],
    ['foreign-url', { ...task, says: /^fail 200 .*status_url.*no route has the task/ }],
    ['nowhere', { ...task, says: /^fail 200 code, data\[\].*no route has the task/ }],
  ],
  taskRemark: [[true, { ...video, says: /^pass .*an error beside the result/ }]],
  taskRequest: [[true, 'The client ignores the request.', true]],
  fileEnd: [
    ['cut', 'The length of speech is not in its file.', true],
    ['error', { ...speech, says: /copy_response_body_failed/ }],
  ],
  fileBody: [
    ['page', { ...speech, says: /^fail 200; UnexpectedResponseError/ }],
    ['xml', { ...speech, says: /NoSuchKey|does not exist/ }],
  ],
  imageTaskTime: [
    [
      3_600_000,
      { ...task, row: 'call.image', options: { quirks: { imageTasks: 'list' } }, says: /^timeout/ },
    ],
  ],
  speechPlace: [
    ['audio_data', { ...speech, says: /^pass 200; audio at audio_data/ }],
    ['audio', { ...speech, says: /^pass 200; audio at audio/ }],
    ['audio-hex', { ...speech, says: /^pass 200; audio at audio/ }],
    ['data.audio', { ...speech, says: /^pass 200; audio at data\.audio/ }],
    ['output.audio.data', { ...speech, says: /^pass 200; audio at output\.audio\.data/ }],
    ['output.audio.url', { ...speech, says: /^pass 200; audio at output\.audio\.url/ }],
    ['message.audio', { ...speech, says: /^pass 200; audio at choices\[\]\.message\.audio\.data/ }],
    [
      'inlineData',
      { ...speech, says: /^pass .*at candidates\[\]\.content\.parts\[\]\.inlineData\.data/ },
    ],
    ['events', { ...speech, says: /^pass 200; a stream in place of a file$/ }],
    ['data-events', { ...speech, says: /^pass .*a stream in place of a file; audio at data\.a/ }],
    ['chunk-events', { ...speech, says: /^pass 200; a stream in place of a file$/ }],
  ],
  transcriptForm: [
    ['json-string', { ...subtitles, says: /^pass 200; text as a JSON string/ }],
    ['in-json', { ...subtitles, says: /^pass 200; subtitles in the field "text"/ }],
    ['doubled-json', { ...transcript, says: /^pass 200; JSON inside a JSON string/ }],
  ],
  transcriptSegments: [
    ['nested', 'A report requests a transcript without segments.', true],
    ['null', 'A report requests a transcript without segments.', true],
  ],
  transcriptStream: [
    ['vllm', { ...streamed, says: /^pass 200; events of the type transcription\.chunk/ }],
    ['mistral', { ...streamed, says: /^pass 200; events of the type transcription\./ }],
    ['text', { ...streamed, says: /^pass 200; text in place of events/ }],
  ],
  strictUploads: [[true, 'A report uploads files that every gateway takes.', true]],
  speechType: [
    ['octet-stream', { calls: ['speech'], row: 'call.speech', says: /application\/octet-stream/ }],
    ['missing', { calls: ['speech'], row: 'call.speech', says: /content type missing/ }],
  ],
  speechDelivery: [
    ['redirect', { calls: ['speech'], row: 'call.speech', says: /redirects to a file/ }],
  ],
  translationVtt: [
    ['json', { calls: ['translation'], row: 'call.translation', says: /JSON in place of sub/ }],
    [
      'text',
      {
        calls: ['translation'],
        row: 'call.translation',
        options: { models: [{ id: 'whisper-1', type: 'audio' }] },
        says: /^pass 200$/,
      },
    ],
  ],
  fileOrigin: [['other', { ...image, says: /on another host/ }]],
  videoSubmitStatus: [[201, { ...video, says: /submission answered with 201/ }]],
  taskPending: (['empty', 'null', 'text', 'page'] as const).map(
    (value) => [value, { ...video, says: /^pass .*polls answered with 202/ }] as const,
  ),
  videoId: [
    ['both-always', { ...video, says: /later ones in id and task_id/ }],
    ['id', { ...video, says: /^pass 200; URL/ }],
    ['task_id', { ...video, says: /id in task_id/ }],
    ['video_id', { ...video, says: /id in video_id/ }],
    ['data.task_id', { ...video, says: /id in data\.task_id/ }],
    ['data.id', { ...video, says: /id in data\.id/ }],
    ['requestId', { ...video, says: /^pass .*id in requestId/ }],
    ['generation_id', { ...video, says: /^pass .*id in generation_id/ }],
    ['jobId', { ...video, says: /^pass .*id in jobId/ }],
    ['queue_id', { ...video, says: /^pass .*id in queue_id/ }],
    ['name', { ...video, says: /^pass .*id in name/ }],
    ['Resp.video_id', { ...video, says: /^pass .*id in Resp\.video_id/ }],
    ['Response.JobId', { ...video, says: /^pass .*id in Response\.JobId/ }],
  ],
  videoForeignId: [[true, { ...video, says: /another id in "task_id"/ }]],
  videoStatusRoute: [['body', { ...video, says: /^fail 404 .*Invalid URL/ }]],
  videoContentId: [
    ['generation', { ...content, says: /content route answers 404; the URL in the task/ }],
  ],
  videoStatuses: [[{ completed: 'succeed' }, { ...video, says: /status words "succeed"/ }]],
  videoNesting: [['data', { ...video, says: /status in "data"/ }]],
  videoProgress: [
    ['percent', { ...video, says: /progress is text/ }],
    ['missing', { ...video, says: /no progress/ }],
  ],
  videoTimes: [
    ['milliseconds', { ...video, says: /; times in milliseconds/ }],
    ['milliseconds-later', { ...video, says: /later times in milliseconds/ }],
  ],
  videoKeys: [['all', { ...video, says: /missing values are null/ }]],
  videoModel: [['empty', { ...video, says: /the model is empty/ }]],
  videoLength: [
    ['completed', { ...video, says: /only "seconds"/ }],
    ['missing', { ...video, says: /no "seconds" and "size"/ }],
  ],
  videoUsage: [[true, { ...video, says: /; usage/ }]],
  videoUrl: [
    ['url', { ...video, says: /URL in url/ }],
    ['video_url', { ...video, says: /URL in video_url/ }],
    ['data-url', { ...video, says: /as a data URL/ }],
    ['result.videos', { ...video, says: /URL in result\.videos\[\]\.url\[\]/ }],
    ['results.videos', { ...video, says: /URL in results\.videos\[\]\.url/ }],
    ['video_result', { ...video, says: /URL in video_result\[\]\.url/ }],
    ['assets.video', { ...video, says: /URL in assets\.video/ }],
    ['output.works', { ...video, says: /URL in output\.works\[\]\.video\.resource/ }],
    ['content.result_url', { ...video, says: /URL in content\.result_url/ }],
    ['missing', { ...video, says: /no URL/ }],
  ],
  videoUrlBefore: [
    ['empty', { ...video, says: /empty URL before the end/ }],
    ['sentence', { ...video, says: /a sentence in place of a URL/ }],
    ['reason', { ...video, says: /empty URL before the end/ }],
  ],
  videoError: [
    ['always', { ...video, says: /an error before the end/ }],
    ['numeric-code', { ...failed, says: /error is an object with a number code/ }],
    ['string', { ...failed, says: /error is text/ }],
    ['fail_reason', { ...failed, says: /error in fail_reason/ }],
    ['null', { ...failed, says: /error is null/ }],
    ['missing', { ...failed, says: /; no error/ }],
  ],
  videoFailure: [
    ['error-inside', { ...failed, says: /^fail .*completed with an error in place of a URL/ }],
    ['text-inside', { ...failed, says: /^fail .*completed with an error in place of a URL/ }],
    ['moderation', { ...failed, says: /^fail .*withheld by moderation/ }],
    ['success-flag', { ...failed, says: /^fail .*failed by "successFlag"/ }],
    ['filtered', { ...failed, says: /failed: Refused.*no progress; no URL; no "seconds"/ }],
  ],
  videoEarlyEnd: [[true, { ...video, says: /"completed_at" before the end/ }]],
  videoJsonSeconds: [
    [
      'ignored',
      {
        ...video,
        prepare: (emulator) =>
          emulator.fail({
            operation: 'videos.create',
            // Two probes, and the form.
            times: 3,
            fault: { type: 'error', status: 415, message: 'Send JSON.' },
          }),
        says: /4 seconds in place of 5/,
      },
    ],
  ],
  videoRefund: [
    [false, { ...failed, says: /^fail (?!.*refunded)/ }],
    ['unless-polled', { ...failed, says: /^fail (?!.*refunded)/ }],
  ],
  videoRemix: [
    ['new', 'A remix is a second video at the full price.', true],
    ['not-found', 'A remix is a second video at the full price.', true],
  ],
  videoPollError: [
    [
      'unknown',
      {
        ...video,
        onVideo: (emulator, id) => emulator.videos.failPoll(id),
        says: /unrecognized message/,
      },
    ],
    [
      'failed',
      { ...video, onVideo: (emulator, id) => emulator.videos.failPoll(id), says: /object with a/ },
    ],
    [
      'failed-first',
      {
        ...video,
        onVideo: (emulator, id) => emulator.videos.failPoll(id),
        says: /failed and then as completed/,
      },
    ],
    ['none', { ...video, onVideo: (emulator, id) => emulator.videos.failPoll(id), says: /^pass/ }],
  ],
  contentLimit: [
    [0, 'A report downloads one video once or twice.', true],
    [
      1,
      {
        ...content,
        prepare: (emulator) => void emulator.videos.mayDownload(),
        says: /content route answers 429/,
      },
    ],
  ],
  contentStatus: [
    [403, { ...content, says: /content route answers 403; the URL in the task has/ }],
    [404, { ...content, says: /content route answers 404; the URL in the task has/ }],
    [405, { ...content, says: /content route answers 405; the URL in the task has/ }],
    [410, { ...content, says: /content route answers 410; the URL in the task has/ }],
    [500, { ...content, says: /content route answers 500; the URL in the task has/ }],
    [501, { ...content, says: /content route answers 501; the URL in the task has/ }],
    [502, { ...content, says: /content route answers 502; the URL in the task has/ }],
  ],
  contentDelivery: [['redirect', { ...content, says: /redirects to a file/ }]],
  contentRange: [['honoured', { ...content, says: /ranges are honoured/ }]],
  contentType: [['application/octet-stream', { ...content, says: /application\/octet-stream/ }]],
  contentLength: [[false, { ...content, says: /no content length/ }]],
  contentNeedsKey: [[true, { row: 'content-key', says: /^yes/ }]],
  vendorBody: [
    ['old-task', { ...vendor, says: /^pass (?!.*result_url)/ }],
    ['simple', { ...vendor, says: /data\.task_id\/status\/url/ }],
    ['flat', { ...vendor, says: /fields task_id, status, url/ }],
    ['native', { ...vendor, says: /request_id, data\.task_id\/task_status/ }],
    ['null', { ...vendor, says: /fields code, data$/ }],
    ['video', { ...vendor, says: /fields id, object, model/ }],
  ],
  accountRoutes: [
    [['log'], { row: 'prices', says: /^no/ }],
    [['pricing'], { row: 'usage-log', says: /^no/ }],
  ],
  usageLogDelay: [[600_000, { ...log, says: /^no 0 of 1/ }]],
  usageLogEntries: [[1, { ...log, calls: ['embeddings', 'chat'], says: /^no 1 of 2/ }]],
  usageLogLimit: [[1, { ...log, says: /^unknown .*UsageLogLimitError/ }]],
  usageLogCharges: [[false, { ...log, says: /^no 0 of 1/ }]],
  usageLogErrors: [
    [true, { ...log, calls: ['embeddings', 'embeddings-engine'], says: /failed requests too/ }],
  ],
  usageLogTaskIds: [[true, { ...video, row: 'usage-log-entries', says: /name their video task/ }]],
  reportedCost: [
    ['usage', { ...chat, says: /cost in usage\.cost/ }],
    ['header', { ...chat, says: /cost in a header/ }],
  ],
};

async function report(
  options: EmulatorOptions,
  { calls, onVideo, prepare, waits }: Pick<Seen, 'calls' | 'onVideo' | 'prepare' | 'waits'>,
): Promise<DoctorReport> {
  const emulator = createEmulator(options);
  vi.stubGlobal('fetch', emulator.fetch);
  prepare?.(emulator);
  const spend = {
    wallet: { limit: 100, spent: 0 },
    video: true,
    only: calls,
    models: [],
    confirm: () => Promise.resolve(),
    onTask: (id: string) => onVideo?.(emulator, id),
  };
  const target = {
    baseURL: emulator.baseURL,
    findGateway: readGateway(options.gateway ?? 'new-api'),
    isAuto: false,
    key: emulator.apiKey,
    headers: {},
    signal: new AbortController().signal,
    timeout: 10_000,
    spend: false,
  };
  const create = () => createReport(target, calls === undefined ? {} : { spend });
  if (waits === undefined) return create();
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const made = create();
  const settled = await settle(made);
  if ('error' in settled) throw settled.error;
  return settled.value;
}

const usualReports = new Map<string, DoctorReport>();

/** Returns the report without a quirk, which many quirks share. */
async function usualReport(options: EmulatorOptions, seen: Omit<Seen, 'row' | 'says'>) {
  const { calls, waits, onVideo, prepare } = seen;
  const key = JSON.stringify([options, calls, waits]);
  const isShared = onVideo === undefined && prepare === undefined;
  const made = (isShared && usualReports.get(key)) || (await report(options, seen));
  if (isShared) usualReports.set(key, made);
  return made;
}

function readRow({ rows }: DoctorReport, id: string): string {
  const row = rows.find((candidate) => candidate.id === id);
  return `${row?.status} ${row?.detail}`;
}

const cases = Object.entries(table).flatMap(([name, values]) =>
  values.map(([value, seen, unseen]) => ({ name, value, seen, unseen })),
);

test('the table has every quirk of the emulator', () => {
  expect(Object.keys(table)).toEqual(Object.keys(defaultQuirks));
  const unplaced = Object.entries(table).filter(([, values]) => values.length === 0);
  expect(unplaced).toEqual([]);
});

test('these quirks cannot be seen', () => {
  const unseen = cases.filter((each) => each.unseen === true);

  expect(unseen.map(({ name, value }) => `${name} ${JSON.stringify(value)}`)).toEqual([
    'streamChunkBytes 7',
    'chatHollowCall true',
    'chatFinishReason "eos"',
    'generateFinishReason "OTHER"',
    'chatMessageAtEnd true',
    'chatStreamOptions "rejected"',
    'chatStreamOptions "forbidden"',
    'imageTasks "several"',
    'taskRequest true',
    'fileEnd "cut"',
    'transcriptSegments "nested"',
    'transcriptSegments "null"',
    'strictUploads true',
    'videoRemix "new"',
    'videoRemix "not-found"',
    'contentLimit 0',
  ]);
});

const seenCases = cases.flatMap(({ name, value, seen }) =>
  typeof seen === 'string' ? [] : { name, value, ...seen },
);

test.each(someOf(seenCases))(
  '$name: $value changes the row $row',
  async ({ name, value, row, says, options = {}, ...seen }) => {
    const usual = await usualReport(options, seen);
    const changed = await report(
      { ...options, quirks: { ...options.quirks, [name]: value } },
      seen,
    );

    expect(readRow(usual, row)).not.toMatch(says);
    expect(readRow(changed, row)).toMatch(says);
  },
);
