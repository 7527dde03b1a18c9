import type { FailedAttempt } from '../../http/retry.ts';

/** Names of structured output in the errors of gateways and providers. */
const namesFormat =
  /response[ _-]?format|json[ _-]?(?:schema|object|mode)|structured[ _-]?output|response[ _-]?(?:json[ _-]?)?schema|response[ _-]?mime[ _-]?type/i;

/** Errors about the caller's own schema. Another mode would only hide them. */
const faultySchema =
  /\binvalid[ _](?:json[ _])?schema\b|\bschema is invalid\b|\bvalid json ?schema\b|\bunknown name\b|\bmissing required\b/i;

/** Google's error if the API lacks the field itself; an unknown name inside the schema is the caller's error. */
const unknownField =
  /\bunknown name "?(?:response_?json_?schema|response_?schema|response_?mime_?type|response_format)\b/i;

/**
 * Returns whether the provider rejected a request because the model does not support structured output in the
 * requested form. Such requests are not charged, unless the error has a success status.
 *
 * The errors differ by provider. They name `response_format`, a JSON schema, JSON mode or structured output.
 */
export function refusesStructuredOutput({
  kind,
  status,
  body,
}: Pick<FailedAttempt, 'kind' | 'status' | 'body'>): boolean {
  const { param, code, message } = body ?? {};
  const text = `${param ?? ''} ${code ?? ''} ${message ?? ''}`;
  const isAboutFormat =
    namesFormat.test(text) && (!faultySchema.test(text) || unknownField.test(text));
  if (!isAboutFormat) return false;
  // A 2xx status: the error was the whole body or the first event of the stream.
  if (kind === 'undecided') return status !== undefined && status < 300;
  return kind === 'refused' && /^(400|422|50[01])$/.test(`${status}`);
}
