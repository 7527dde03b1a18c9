import type { ErrorBody } from './failure.ts';

/*
 * The meanings of codes and messages in errors. A meaning is a list of patterns, so that a page has only those that its
 * calls ask for.
 */

/** A code or a message. Codes also match the type of an error, where some gateways put them. */
interface Pattern {
  readonly code?: RegExp;
  /** Matches messages in English and Chinese, or JSON in the details of an error. */
  readonly message?: RegExp;
}

export type Meaning = readonly Pattern[];

// Requests and models
const unpriced: Pattern = { code: /^(convert_request_failed|model_price_error)$/ };

const unsupportedModel: Pattern = { code: /^model_not_supported$/i };

const unknownModel: Pattern = {
  code: /^(model_not_found|deploymentnotfound|unknown_model|invalidendpointormodel\.\w+|modelnotopen)$/i,
};

/** The model is unknown, or no channel serves it to this key. */
export const missingModel: Meaning = [
  unknownModel,
  {
    message:
      /\bno (available )?channels?\b|无可用渠道|可用渠道不存在|\b(?:unknown|no such) model\b|\bmodel\b(?:(?!\b(?:output|response|result|file)s?\b).){0,200}\b(?:not exist|not found|doesn't exist)|\bmodels\/\S{1,100} is not found\b|模型.{0,200}不存在|\bfunction\b.{0,80}\bnot found for account\b|\bthe given endpoint does not exist\b|\bthe model specified in your request is not configured\b|\b(?:could|can) ?not find (?:the )?model\b|\bnot activated the model\b|\bmodel\b.{0,100}\bnot available in your (?:region|country)\b/is,
  },
];

/** The model is known, but this key, channel or provider cannot use it. */
export const unusableModel: Meaning = [
  unpriced,
  unsupportedModel,
  {
    code: /^(model_decommissioned|unavailable_model|get_channel_failed|operationnotsupported|unsupportedmodel)$|^channel:|_model_access_denied$/i,
  },
  {
    message:
      /\b(invalid|not a valid) model\b|\bmodel\b.{0,100}(is|was|been) (not (available|supported|enabled|allowed|accessible)|disabled|deprecated|decommissioned|unavailable)|\bmodel\b.{0,100}\bend of (its )?life\b|\bmodel identifier is invalid\b|\bnon-serverless\b|(not|n't) supported on this route|does not work with the specified model|no (endpoints|deployments|allowed providers)|模型.{0,100}禁用|可用渠道/is,
  },
];

/** Another model may serve a request of this kind. */
export const unsuitedModel: Meaning = [
  unsupportedModel,
  { code: /^convert\w{0,40}_request_failed$/i },
  {
    message:
      /(un|not )supported model|only \S{1,60} models? (is|are) supported|model.{0,60}(not|n't) support/i,
  },
];

/** Mentions a model or channel, but not inside a path. */
export const namesModel: Meaning = [
  { message: /(?<!\/)\b(model|channel)|模型|渠道|no endpoints/i },
];

// Credit and limits

/** The key or its account at the gateway has no credit left. */
export const credit: Meaning = [
  { code: /^(insufficient_user_quota|pre_consume_token_quota_failed)$/ },
  { message: /quota is not enough|额度不足/i },
];

const accountEmpty: Meaning = [
  {
    code: /^(insufficient_quota|insufficient_balance(_error)?|billing_hard_limit_reached|exceeded_current_quota_error|accountoverdueerror|setlimitexceeded|allocationquota\.freetieronly)$/i,
  },
  {
    message:
      /\binsufficient (account )?(balance|funds)\b|\bcredit balance is too low\b|\boverdue balance\b|\bexceeded current quota\b|\bmodel service has been paused\b|余额不足|已欠费|套餐已到期|\bplan package has expired\b|\bfree tier\b.{0,40}\bexhausted\b|\bspend(ing)? limit\b/i,
  },
];

/** The account at the provider has no credit left, which is the operator's at a gateway. */
export const providerCredit: Meaning = [
  ...accountEmpty,
  // MiniMax (1008) and Zhipu (1113, 1309). Other gateways use these numbers for anything, so only a 429 is believed without words.
  { code: /^(1008|1113|1309)$/ },
];

/** A limit per day or longer, which a retry does not outlast. */
export const dailyLimit: Meaning = [
  {
    message:
      /\b(per|by|each)[ _-]?(day|week|month)\b|\/ ?(day|week|month)\b|\b(daily|weekly|monthly)\b|今日|每日|每天|每周|每月/i,
  },
  // GitHub's and Google's names of limits, as `UserByModelByDay`.
  { message: /(Per|By)(Day|Week|Month)(?![a-z])/ },
];

/** A limit of the provider, whatever the HTTP status. */
export const rateLimit: Meaning = [{ code: /^rate_limit_exceeded$/ }];

/** The key is wrong. */
export const invalidKey: Meaning = [
  { code: /^((invalid|wrong)_api_key|api_key_invalid|failed_to_auth)$/ },
  {
    message:
      /\b(incorrect|invalid|wrong|expired) (api[ _-]?key|access[ _-]?token)\b|\b(api key|token) (is )?(not valid|invalid|expired)\b|\bmake sure (that )?your api[ _-]?key is valid\b|\bfailed to authenticate\b/i,
  },
];

// Content
const sensitiveWords: Pattern = { code: /^sensitive_words_detected$/ };

const violation: Pattern = { code: /^(prompt_blocked$|violation_fee)/ };

/** The content was rejected after the provider read it, and gateways bill for that. */
export const billedContent: Meaning = [violation];

/** The content was rejected. */
export const refusedContent: Meaning = [
  sensitiveWords,
  violation,
  {
    code: /^(content_filter|content_policy_violation|moderation_blocked|data_inspection_failed)$|SensitiveContentDetected/,
  },
  {
    message:
      /content[ _](policy|filter|management)|safety (system|filter|polic)|moderation|inappropriate content|敏感/i,
  },
];

/** The prompt is too long for the model. */
export const tooLong: Meaning = [
  { code: /^(context_(length|window)_exceeded|tokens_limit_reached)$/ },
  {
    message:
      /maximum (context|prompt|model) length|(prompt|input) (is |exceeds? |.{0,40}\b)(too long|max(imum)? length)|input (token count|tokens|length)[^.]{0,80}exceed|(exceed|longer|larger|too (long|large))[^.]{0,80}context (length|window|limit|size)|context (length|window|limit|size)[^.]{0,60}(exceed|too)|reduce the length of|model token limit|range of input length/i,
  },
  // Text Generation Inference, TabbyAPI, Cohere, LM Studio, Ark, Snowflake and Zhipu.
  {
    message:
      /\binputs`?( tokens)? \+ `?max_new_tokens\b|\bmax_seq_len\b|\btoo many tokens\b|\bcontext (the )?overflows\b|\bcontext length of only\b|\bexceeds? max message tokens\b|\bmax tokens of \d{1,9} exceeded\b|\bprompt 超长/i,
  },
];

/** Rejected before any work, and the same request fails again, whatever the HTTP status. */
export const permanent: Meaning = [
  { code: /^(invalid_request|build_request_failed|count_token_failed)$/ },
  // `response_format` that the server of llama.cpp does not know, sent with status 500 by some versions.
  {
    message:
      /\bresponse_format type must be one of\b|\('body', 'response_format'|\b(json_schema|json_object|response_format)\b.{0,60}\bnot (be )?supported\b/i,
  },
  unpriced,
  unknownModel,
  ...credit,
  ...accountEmpty,
  sensitiveWords,
];

// Responses that the gateway lost

/** The provider did the work, and its response was lost. */
export const afterWork: Meaning = [
  { code: /^((read|unmarshal)_response_body_failed|bad_response_body)$/ },
];

/** The gateway lost the provider's response, so the provider may have billed it. */
export const lostResponse: Meaning = [
  ...afterWork,
  { code: /^do_request_failed$/ },
  { message: /\bunexpected (EOF|end of JSON input)\b/i },
];

/** The fields of an error that tell its meaning. */
export type CodedError = Partial<Pick<ErrorBody, 'code' | 'type' | 'message'>>;

/** Returns whether an error has one of the meanings, by its code, its type or its message. */
export function means(
  { code, type = '', message = '' }: CodedError,
  ...meanings: readonly Meaning[]
): boolean {
  return meanings
    .flat()
    .some(
      (pattern) =>
        pattern.code?.test(code ?? '') ||
        pattern.code?.test(type) ||
        pattern.message?.test(message),
    );
}
