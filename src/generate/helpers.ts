import type {
  FunctionCall,
  Part,
  Candidate,
  GenerateContentHelpers,
  GenerateContentResponse,
  PromptFeedback,
} from './types.ts';

const blockingReasons = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII|LANGUAGE/i;

/** The getters that responses inherit; they do not show in JSON and cost nothing unread. */
class GenerateContentResult implements GenerateContentHelpers {
  declare readonly candidates?: Candidate[] | undefined;
  declare readonly promptFeedback?: PromptFeedback | undefined;

  get text(): string | undefined {
    const texts = partsOf(this).map(({ text, thought }) => (thought === true ? undefined : text));
    const found = texts.filter((text) => typeof text === 'string');
    return found.length === 0 ? undefined : found.join('');
  }

  get functionCalls(): FunctionCall[] | undefined {
    const calls = partsOf(this).map((part) => part.functionCall);
    const found = calls.filter((call) => call !== undefined).filter(({ name }) => name);
    return found.length === 0 ? undefined : found;
  }

  get blockReason(): string | undefined {
    const reason = this.promptFeedback?.blockReason;
    if (reason) return reason;
    const finish = this.candidates?.[0]?.finishReason;
    return finish && blockingReasons.test(finish) ? finish : undefined;
  }
}

function partsOf({ candidates }: GenerateContentResult): readonly Part[] {
  return candidates?.[0]?.content?.parts ?? [];
}

/** Gives a response the getters `text`, `functionCalls` and `blockReason`. */
export function withHelpers(response: object): void {
  Object.setPrototypeOf(response, GenerateContentResult.prototype);
}

/** A response with nothing in it but the getters. */
export function emptyResponse(): GenerateContentResponse {
  return new GenerateContentResult();
}
