import type { AnswerFormat } from '../http/call.ts';
import type { RawRequestOptions } from '../http/request.ts';
import { kindOfText, typeOf } from '../http/response.ts';
import { valueAnswer } from '../http/route.ts';
import { handOut, peek } from '../http/response-body.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import { routeProtocol } from './events.ts';
import { fileAnswer } from '../uploads/file-answer.ts';

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
export function routeAnswer(options: RawRequestOptions | undefined): AnswerFormat<unknown> {
  const { stream, __binaryResponse: isWhole } = options ?? {};
  if (stream === true) return eventAnswer(routeProtocol());
  return isWhole === true ? wholeResponse : anyAnswer;
}
