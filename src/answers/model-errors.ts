import type { ErrorBody } from './failure.ts';

/** Codes and messages, English and Chinese, with which gateways and providers report one problem with a model. */
export interface Wording {
  readonly code: RegExp;
  readonly message: RegExp;
}

/**
 * Returns whether the pattern matches the code of an error, or its type, where some gateways put the code.
 */
export const hasCode = (
  pattern: RegExp,
  { code, type }: Pick<ErrorBody, 'code' | 'type'>,
): boolean => pattern.test(code ?? '') || pattern.test(type ?? '');

/** Returns whether an error reports a problem with a model, whatever its status. */
export const reports = (
  { code, message }: Wording,
  error: Pick<ErrorBody, 'code' | 'type' | 'message'>,
): boolean => hasCode(code, error) || message.test(error.message ?? '');

/** The model is unknown, or no channel serves it to this key. Gateways report a missing channel without a code. */
export const missingModel: Wording = {
  code: /^(model_not_found|deploymentnotfound)$/i,
  message:
    /no available channel|无可用渠道|可用渠道不存在|\b(?:unknown|no such) model\b|\bmodel\b.{0,200}\b(?:not exist|not found|doesn't exist)|模型.{0,200}不存在/is,
};

/** The model is known, but this key, channel or provider cannot use it. */
export const unusableModel: Wording = {
  code: /^(model_(price_error|decommissioned|not_supported)|\w+_model_access_denied|convert_request_failed|get_channel_failed|channel:.*)$/i,
  message:
    /\b(invalid|not a valid) model\b|\bmodel\b.{0,100}(is|was|been) (not (available|supported|enabled|allowed|accessible)|disabled|deprecated|decommissioned|unavailable)|no (endpoints|deployments|allowed providers)|模型.{0,100}禁用|可用渠道/is,
};

/** Another model may serve a request of this kind. */
export const unsuitedModel: Wording = {
  code: /^(convert\w{0,40}_request_failed|model_not_supported)$/i,
  message:
    /(un|not )supported model|only \S{1,60} models? (is|are) supported|model.{0,60}(not|n't) support/i,
};

/** Mentions a model or channel, but not inside a path. */
export const mentionsModel = /(?<!\/)\b(model|channel)|模型|渠道|no endpoints/i;
