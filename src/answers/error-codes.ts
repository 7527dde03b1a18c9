import type { ErrorBody } from './failure.ts';

/**
 * The meanings of codes and messages in errors.
 *
 * - `permanent`: rejected before any work, and the same request fails again, whatever the HTTP status
 * - `missing_model`: the model is unknown, or no channel serves it to this key
 * - `unusable_model`: the model is known, but this key, channel or provider cannot use it
 * - `unsuited_model`: another model may serve a request of this kind
 * - `names_model`: mentions a model or channel, but not inside a path
 * - `credit`: the key or its account at the gateway has no credit left
 * - `provider_credit`: the account at the provider has no credit left, which is the operator's at a gateway
 * - `daily_limit`: a limit per day or longer, which a retry does not outlast
 * - `rate_limit`: a limit of the provider, whatever the HTTP status
 * - `key`: the key is wrong
 * - `content`: the content was rejected
 * - `billed_content`: the content was rejected after the provider read it, and gateways bill for that
 * - `context`: the prompt is too long for the model
 * - `after_work`: the provider did the work, and its response was lost
 * - `lost_response`: the gateway lost the provider's response, so the provider may have billed it
 */
export type Meaning =
  | 'permanent'
  | 'missing_model'
  | 'unusable_model'
  | 'unsuited_model'
  | 'names_model'
  | 'credit'
  | 'provider_credit'
  | 'daily_limit'
  | 'rate_limit'
  | 'key'
  | 'content'
  | 'billed_content'
  | 'context'
  | 'after_work'
  | 'lost_response';

/** What a code or a message means. Codes also match the type of an error, where some gateways put them. */
interface Row {
  readonly code?: RegExp;
  /** Matches messages in English and Chinese, or JSON in the details of an error. */
  readonly message?: RegExp;
  readonly means: readonly Meaning[];
}

const rows: readonly Row[] = [
  // Requests and models
  { code: /^(invalid_request|build_request_failed|count_token_failed)$/, means: ['permanent'] },
  // `response_format` that the server of llama.cpp does not know, sent with status 500 by some versions.
  {
    message:
      /\bresponse_format type must be one of\b|\('body', 'response_format'|\b(json_schema|json_object|response_format)\b.{0,60}\bnot (be )?supported\b/i,
    means: ['permanent'],
  },
  {
    code: /^(convert_request_failed|model_price_error)$/,
    means: ['permanent', 'unusable_model'],
  },
  { code: /^convert\w{0,40}_request_failed$/i, means: ['unsuited_model'] },
  {
    code: /^(model_not_found|deploymentnotfound|unknown_model|invalidendpointormodel\.\w+)$/i,
    means: ['permanent', 'missing_model'],
  },
  {
    message:
      /\bno (available )?channels?\b|无可用渠道|可用渠道不存在|\b(?:unknown|no such) model\b|\bmodel\b(?:(?!\b(?:output|response|result|file)s?\b).){0,200}\b(?:not exist|not found|doesn't exist)|\bmodels\/\S{1,100} is not found\b|模型.{0,200}不存在|\bfunction\b.{0,80}\bnot found for account\b|\bthe given endpoint does not exist\b|\bthe model specified in your request is not configured\b/is,
    means: ['missing_model'],
  },
  {
    code: /^(model_decommissioned|unavailable_model|get_channel_failed|operationnotsupported|modelnotopen|unsupportedmodel)$|^channel:|_model_access_denied$/i,
    means: ['unusable_model'],
  },
  { code: /^model_not_supported$/i, means: ['unusable_model', 'unsuited_model'] },
  {
    message:
      /\b(invalid|not a valid) model\b|\bmodel\b.{0,100}(is|was|been) (not (available|supported|enabled|allowed|accessible)|disabled|deprecated|decommissioned|unavailable)|\bmodel\b.{0,100}\bend of (its )?life\b|\bmodel identifier is invalid\b|\bnon-serverless\b|(not|n't) supported on this route|does not work with the specified model|no (endpoints|deployments|allowed providers)|模型.{0,100}禁用|可用渠道/is,
    means: ['unusable_model'],
  },
  {
    message:
      /(un|not )supported model|only \S{1,60} models? (is|are) supported|model.{0,60}(not|n't) support/i,
    means: ['unsuited_model'],
  },
  { message: /(?<!\/)\b(model|channel)|模型|渠道|no endpoints/i, means: ['names_model'] },

  // Credit and limits
  {
    code: /^(insufficient_user_quota|pre_consume_token_quota_failed)$/,
    means: ['permanent', 'credit'],
  },
  { message: /quota is not enough|额度不足/i, means: ['permanent', 'credit'] },
  {
    code: /^(insufficient_quota|insufficient_balance(_error)?|billing_hard_limit_reached|exceeded_current_quota_error|accountoverdueerror|setlimitexceeded)$/i,
    means: ['permanent', 'provider_credit'],
  },
  // MiniMax (1008) and Zhipu (1113, 1309). Other gateways use these numbers for anything, so only a 429 is believed without words.
  { code: /^(1008|1113|1309)$/, means: ['provider_credit'] },
  {
    message:
      /\binsufficient (account )?(balance|funds)\b|\bcredit balance is too low\b|\boverdue balance\b|\bexceeded current quota\b|\bmodel service has been paused\b|余额不足|已欠费|套餐已到期|\bplan package has expired\b/i,
    means: ['permanent', 'provider_credit'],
  },
  {
    message:
      /\b(per|by|each)[ _-]?(day|week|month)\b|\/ ?(day|week|month)\b|\b(daily|weekly|monthly)\b|今日|每日|每天|每周|每月/i,
    means: ['daily_limit'],
  },
  // GitHub's and Google's names of limits, as `UserByModelByDay`.
  { message: /(Per|By)(Day|Week|Month)(?![a-z])/, means: ['daily_limit'] },
  { code: /^rate_limit_exceeded$/, means: ['rate_limit'] },

  // Keys
  { code: /^((invalid|wrong)_api_key|api_key_invalid|failed_to_auth)$/, means: ['key'] },
  {
    message:
      /\b(incorrect|invalid|wrong|expired) (api[ _-]?key|access[ _-]?token)\b|\bapi key (is )?(not valid|invalid|expired)\b|\bmake sure (that )?your api[ _-]?key is valid\b|\bfailed to authenticate\b/i,
    means: ['key'],
  },

  // Content
  { code: /^sensitive_words_detected$/, means: ['permanent', 'content'] },
  { code: /^(prompt_blocked$|violation_fee)/, means: ['billed_content', 'content'] },
  {
    code: /^(content_filter|content_policy_violation|moderation_blocked|data_inspection_failed)$|SensitiveContentDetected/,
    means: ['content'],
  },
  {
    message:
      /content[ _](policy|filter|management)|safety (system|filter|polic)|moderation|inappropriate content|敏感/i,
    means: ['content'],
  },

  // Length
  { code: /^(context_(length|window)_exceeded|tokens_limit_reached)$/, means: ['context'] },
  {
    message:
      /maximum (context|prompt|model) length|(prompt|input) (is |exceeds? |.{0,40}\b)(too long|max(imum)? length)|input (token count|tokens|length)[^.]{0,80}exceed|(exceed|longer|larger|too (long|large))[^.]{0,80}context (length|window|limit|size)|context (length|window|limit|size)[^.]{0,60}(exceed|too)|reduce the length of|model token limit|range of input length/i,
    means: ['context'],
  },
  // Text Generation Inference, TabbyAPI, Cohere, LM Studio, Ark, Snowflake and Zhipu.
  {
    message:
      /\binputs`?( tokens)? \+ `?max_new_tokens\b|\bmax_seq_len\b|\btoo many tokens\b|\bcontext (the )?overflows\b|\bcontext length of only\b|\bexceeds? max message tokens\b|\bmax tokens of \d{1,9} exceeded\b|\bprompt 超长/i,
    means: ['context'],
  },

  // Responses that the gateway lost
  {
    code: /^((read|unmarshal)_response_body_failed|bad_response_body)$/,
    means: ['after_work', 'lost_response'],
  },
  { code: /^do_request_failed$/, means: ['lost_response'] },
  { message: /\bunexpected (EOF|end of JSON input)\b/i, means: ['lost_response'] },
];

/** The fields of an error that tell its meaning. */
export type CodedError = Pick<ErrorBody, 'code' | 'type' | 'message'>;

/** Returns whether an error has one of the meanings, by its code, its type or its message. */
export function means(
  { code, type, message }: Partial<CodedError>,
  ...meanings: readonly Meaning[]
): boolean {
  return rows.some(
    (row) =>
      row.means.some((meaning) => meanings.includes(meaning)) &&
      (row.code?.test(code ?? '') ||
        row.code?.test(type ?? '') ||
        row.message?.test(message ?? '')),
  );
}
