import { asGiven } from '../given.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue, type ResponseSchema } from '../answers/reader.ts';
import type { AnswerFormat } from '../http/call.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { RawRequestOptions, RouteRequest } from '../http/request.ts';
import { handOut, peek } from '../http/response-body.ts';
import { kindOfText, typeOf } from '../http/response.ts';
import { routeSpec, valueAnswer } from '../http/route.ts';
import { baseOf } from '../http/settings.ts';
import type { Transport } from '../http/transport.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import type { StreamProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import { fileAnswer } from '../uploads/file-answer.ts';
import { rawBody } from '../uploads/raw-body.ts';

/** Calls a route by its path. Bad input rejects like everything else, so that one `catch` serves for all. */
export function callRoute(transport: Transport, request: RouteRequest): GatewayPromise<unknown> {
  const { method, path, ...options } = asGiven({ ...request });
  return transport.raw(
    (client) => routeSpec(method, path, baseOf(client).version, options, rawBody(options)),
    routeAnswer(options),
  );
}

const files = /^(audio|video|image|font)\//;
const texts = /^$|^text\/|json|xml|script|yaml|urlencoded/;

/** An answer of which nothing is promised: JSON, text, a file as a `Response`, or nothing. */
const anyAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  async read(call, given) {
    const type = typeOf(given.response);
    if (files.test(type)) return fileAnswer().read(call, given);
    if (texts.test(type)) return valueAnswer.read(call, given);
    const { beginning, answer } = await peek(given);
    // JSON is often labelled as anything.
    const isText = beginning === '' || /^(json|markup)$/.test(kindOfText(beginning));
    if (isText) return valueAnswer.read(call, answer);
    return { value: handOut(call, answer), stays: true };
  },
};

/** The answer as it is. */
const wholeResponse: AnswerFormat<unknown> = {
  kind: 'binary',
  read: (call, answer) => Promise.resolve({ value: handOut(call, answer), stays: true }),
};

/** How the answer of a route is read: as a stream of events when that is asked for. */
function routeAnswer(options: RawRequestOptions | undefined): AnswerFormat<unknown> {
  const { stream, __binaryResponse: isWhole } = options ?? {};
  if (stream === true) return eventAnswer(routeProtocol());
  return isWhole === true ? wholeResponse : anyAnswer;
}

/** Types of events whose streams have a last event: those of OpenAI, and of Anthropic's messages. */
const families =
  /^(response|speech\.audio|transcript\.text|image_generation|image_edit)\.|^message_/;

/** Their last events. */
const lastEvents =
  /^(response\.(completed|incomplete|failed|cancelled)|(speech\.audio|transcript\.text)\.done|image_(generation|edit)\.completed|message_stop)$/;

/** Any event is one: what comes from a route that is not known is left as it came. */
const anyEvent: ResponseSchema<unknown> = { fields: {} };

/**
 * How the events of any route are read: each as its parsed data.
 *
 * A stream in a form that is known is whole when its proof has come: a finish reason for every choice or
 * candidate that began, or the last event of its family. Any other is when something has come and the
 * connection closes properly.
 */
function routeProtocol(): StreamProtocol<unknown> {
  /** What has begun, and whether it has ended. */
  const parts = new Map<unknown, boolean>();
  let started = false;
  let usage: unknown;

  function follow(event: JsonObject): void {
    const { type, choices, candidates, response } = event;
    for (const [kind, list] of Object.entries({ choices, candidates })) {
      for (const { index = 0, finish_reason: reason, finishReason } of objectsOf(list)) {
        const part = `${kind} ${String(index)}`;
        parts.set(part, parts.get(part) === true || Boolean(reason ?? finishReason));
      }
    }
    if (typeof type === 'string' && families.test(type)) {
      parts.set('', parts.get('') === true || lastEvents.test(type));
    }
    for (const holder of [response, event]) {
      const counts = isObject(holder) ? (holder['usage'] ?? holder['usageMetadata']) : undefined;
      if (counts) usage = counts;
    }
  }

  const isFinished = (): boolean => parts.size > 0 && [...parts.values()].every(Boolean);
  return {
    read: (value, check) => readValue(value, anyEvent, check),
    fromAnswer: (answer) => [answer],
    get endIsProof() {
      return started && parts.size === 0;
    },
    follow: () => ({
      get started() {
        return started;
      },
      get usage() {
        return usage;
      },
      partial: undefined,
      isFinished: (terminated) => isFinished() || (terminated && started && parts.size === 0),
      add(event) {
        started = true;
        if (isObject(event)) follow(event);
      },
    }),
  };
}
