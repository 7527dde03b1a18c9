import type { ChargeClass } from '../endpoints.ts';
import { defaultAdvice, type Outcome } from '../errors/gateway-error.ts';
import type { ErrorBody } from '../answers/error-body.ts';
import { isSubmission } from './error-in-success.ts';
import { failures, type FailureKind } from './failure.ts';

/** What the advice depends on. */
interface AdviceInput {
  readonly kind: FailureKind;
  readonly body?: ErrorBody | undefined;
  readonly status?: number | undefined;
}

/** What the advice needs to know of the call. */
interface AdviceContext {
  readonly operation: string;
  readonly url: string;
  readonly charge: ChargeClass;
  readonly outcome: Outcome;
}

/** Whether a text says that there is no such model. */
function isNoModel(text: string): boolean {
  return /model|模型/i.test(text) && /not exist|not found|no such|unknown|不存在/i.test(text);
}

/** The likely fix after a status that often has one cause, or `undefined`. */
function fixFor({ body, status }: AdviceInput, { operation, url }: AdviceContext) {
  const isOtherType =
    status === 415 || status === 422 || /invalid asset request/i.test(body?.message ?? '');
  if (isSubmission(operation) && isOtherType) {
    return 'If the gateway wants another content type, set bodyFormat on the call or the client: "form" is the default, "json" the other. Nothing was sent again by itself.';
  }
  if (status !== 404 && status !== 503) return undefined;
  const said = body?.message ?? '';
  const isNoChannel =
    /no available channel/i.test(said) ||
    (status === 503 && /无可用渠道|可用渠道不存在|distributor/i.test(said));
  if (body?.code === 'model_not_found' || isNoChannel || isNoModel(said)) {
    return 'No channel of the gateway serves this model for your key; models.list() tells which ones it can use.';
  }
  if (status === 503) return undefined;
  if (/\/v1(beta)?\/v1(beta)?\//.test(url)) {
    return 'The path names its version twice: take it off the end of baseURL or off the path.';
  }
  return operation.startsWith('videos.') && operation !== 'videos.create'
    ? 'Check the id, and that baseURL is the gateway that gave it.'
    : 'Check baseURL: the gateway has no such route.';
}

const check = 'check the account before sending it again.';

/** Codes of answers that refuse the work and may cost something all the same. */
const billedRefusals = /^(prompt_blocked$|violation_fee)/;

const limited = 'It was refused before any work; wait before you send it again.';

const adviceByKind: Partial<Record<FailureKind, string>> = {
  redirected: 'A request is never sent on to another place, and nothing was done here.',
  tls_failed: 'Nothing was sent. Check the certificate of the gateway and the scheme of baseURL.',
  host_not_found: 'Nothing was sent. Check baseURL.',
  rate_limited: limited,
  bare_rate_limited: limited,
  server_error: `The gateway reports that the work failed and usually refunds it; ${check}`,
};

/** What to do about a failure, or `undefined` for what its outcome says by itself. */
export function adviceFor(failed: AdviceInput, context: AdviceContext): string | undefined {
  const fix = fixFor(failed, context);
  const advice = adviceOf(failed, context);
  return fix === undefined ? advice : `${fix} ${advice ?? defaultAdvice[context.outcome]}`;
}

function adviceOf({ kind, body }: AdviceInput, { charge, outcome }: AdviceContext) {
  if (outcome === 'unknown') {
    if (charge === 'free') return 'The call only reads, so it is safe to repeat.';
    if (kind === 'redirected_after_work') {
      return `Usually baseURL is wrong and nothing was done, but some servers answer so after the work; ${check}`;
    }
    if (failures[kind].outcome !== 'unknown') {
      return `An earlier attempt may have been accepted and charged; ${check}`;
    }
  }
  if (billedRefusals.test(body?.code ?? '')) {
    return 'The gateway refused the content, and may charge for that; change it before you send it again.';
  }
  if (kind !== 'unauthorized') return adviceByKind[kind];
  return body?.type === undefined || body.type === 'new_api_error'
    ? 'Check apiKey: the gateway did not accept it.'
    : "Probably it is the gateway's own key for the model's provider that was refused; tell its operator. Your key may be fine.";
}
