import { decodeBytes, encodeBase64, encodedPiece } from '../../answers/bytes.ts';
import { trimmedText } from '../../answers/objects.ts';
import type { ResponseSchema } from '../../answers/reader.ts';
import { withoutSent } from '../../answers/result-places.ts';
import type { ResultFormat, GatewayRequest } from '../../calls/gateway-request.ts';
import type { Transport } from '../../calls/transport.ts';
import type { OutgoingRequest } from '../../http/request.ts';
import {
  type IncomingResponse,
  discardBody,
  findRequestId,
  joinBytes,
  unusable,
} from '../../http/responses/response-body.ts';
import type { FailedAttempt } from '../../http/retry.ts';
import { followRedirects, parseLocation } from '../../http/send.ts';
import { collectAs, eventFormat } from '../../streams/open-stream.ts';
import {
  type Delivery,
  lastEvent,
  type StreamProgress,
  type StreamProtocol,
  typedProtocol,
} from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { fetchFile } from '../../uploads/fetch-file.ts';
import { fileFormat } from '../../uploads/file-format.ts';
import { requireWhole } from '../../uploads/file-end.ts';
import { findAudio, splitEvent } from './places.ts';
import type { SpeechStreamEvent } from './types.ts';

/**
 * Response format for speech as a file.
 *
 * @param sent - The URLs that the call sent.
 */
export function speechFile(
  transport: Transport,
  sent: readonly string[],
): ResultFormat<Response, 'binary'> {
  // The rules for URLs are those of the gateway at the time of the call.
  const snapshot = transport.snapshot();
  return fileFormat({
    find: (value) => findAudio(withoutSent(value, sent)),
    /** Fetches the audio at a URL in a response, without the key, within the limits of the call. */
    fetch(url, { settings, scope, id: callId }) {
      const { totalTimeout: limit, maxRetries, timeout, idleTimeout } = settings;
      const totalTimeout = limit === null ? null : Math.max(1, Math.ceil(scope.remaining));
      const options = { callId, maxRetries, timeout, idleTimeout, totalTimeout };
      return fetchFile(snapshot, 'audio.speech.create', url, { ...options, signal: scope.signal });
    },
    collect: collectSpeech,
  });
}

const speechEventSchema: ResponseSchema<SpeechStreamEvent> = {
  fields: {
    type: 'any',
    audio: 'string',
    usage: { input_tokens: 'number', output_tokens: 'number', total_tokens: 'number' },
  },
  normalize(event) {
    if (event['type'] === 'speech.audio.delta') event['audio'] ??= event['audio_data'] ?? '';
  },
};

/**
 * Follows a redirect to the audio file: some vendors respond to speech requests with its URL. Returns
 * `undefined` for a redirect to the same path and for one that asks to resend the request (307, 308).
 */
export function followToFile(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> | undefined {
  if (!/^30[123]$/.test(`${redirect.status}`)) return undefined;
  const target = parseLocation(redirect, request.url);
  const isFile = target !== undefined && target.pathname !== new URL(request.url).pathname;
  return isFile ? fetchTarget(redirect, request) : undefined;
}

/** Fetches a file. It is already paid for, so a failure must not cause a retry of the request. */
async function fetchTarget(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> {
  const headers = new Headers(request.headers);
  headers.delete('content-type');
  let problem = 'could not be read.';
  let cause: unknown;
  try {
    const read = { ...request, method: 'GET', headers, body: undefined };
    const response = await followRedirects(redirect, read);
    if ('ok' in response) {
      if (response.ok) return response;
      discardBody(response.body);
      problem = `responded with status ${response.status}.`;
    }
  } catch (error) {
    cause = error;
  }
  const incoming = { response: redirect, requestId: findRequestId(redirect.headers) };
  return { ...unusable(incoming, `the file at the URL of the response ${problem}`), cause };
}

/**
 * Streamed speech has no terminator: it is complete once its last event has arrived.
 *
 * @param changes - Other rules.
 */
/* @__NO_SIDE_EFFECTS__ */
const speechProtocol = (
  changes?: Pick<StreamProtocol<SpeechStreamEvent>, 'follow'>,
): StreamProtocol<SpeechStreamEvent> => ({
  ...typedProtocol({
    schema: speechEventSchema,
    endType: 'speech.audio.done',
    fromResponse: () => [],
  }),
  split: splitEvent,
  fromFile(bytes, incoming) {
    requireWhole(incoming, bytes);
    return toEvents(bytes);
  },
  deliver: deliverSpeech,
  ...changes,
});

/** Yields the events of a stream. The last event of MiniMax repeats all audio, which is yielded only if none was. */
function deliverSpeech(emit: (event: SpeechStreamEvent) => void): Delivery<SpeechStreamEvent> {
  let hasAudio = false;
  return {
    add(event) {
      if (event.type === 'speech.audio.delta') {
        hasAudio ||= event.audio !== '';
        if (event.audio === '') return true;
      } else {
        const audio = readWholeAudio(event);
        if (audio !== undefined && !hasAudio) emit({ type: 'speech.audio.delta', audio });
      }
      emit(event);
      return true;
    },
    flush: () => {},
  };
}

const readWholeAudio = (event: object): string | undefined =>
  'audio' in event ? trimmedText(event.audio) : undefined;

/** Response format for streamed speech. */
export const speechEvents = eventFormat(speechProtocol());

/** Assembles the audio of a stream: its bytes, or its URL if no event has any. */
function followAudio(): StreamProgress<SpeechStreamEvent> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let url: string | undefined;
  let isFinished = false;
  let started = false;
  const add = (text: string): void => {
    const bytes = decodeBytes(text)?.bytes;
    if (bytes !== undefined) pieces.push(bytes);
  };
  return {
    proof: lastEvent,
    get started() {
      return started;
    },
    get partial() {
      return pieces.length === 0 && url !== undefined ? url : joinBytes(pieces);
    },
    usage: undefined,
    isFinished: () => isFinished,
    add(event) {
      started = true;
      if (event.type === 'speech.audio.delta') {
        add(event.audio);
        return;
      }
      isFinished = true;
      if (pieces.length === 0) add(readWholeAudio(event) ?? '');
      url = 'url' in event ? trimmedText(event.url) : undefined;
    },
  };
}

const collectStream = collectAs(speechProtocol({ follow: followAudio }), (file) => {
  const hasAudio = typeof file === 'string' || (file instanceof Uint8Array && file.length > 0);
  return hasAudio ? undefined : 'the stream has no audio.';
});

/** Collects the file of a stream that was not requested. */
async function collectSpeech(
  request: GatewayRequest,
  incoming: IncomingResponse,
): Promise<Uint8Array<ArrayBuffer> | string> {
  const file = await collectStream(request, incoming);
  return file instanceof Uint8Array ? new Uint8Array(file) : String(file);
}

function toEvents(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (let start = 0; start < bytes.length; start += encodedPiece) {
    const audio = encodeBase64(bytes.subarray(start, start + encodedPiece));
    events.push({ type: 'speech.audio.delta', audio });
  }
  return [...events, { type: 'speech.audio.done' }];
}
