import { findAllJSON } from '../../answers/find-json.ts';
import { isObject, parseJSON } from '../../answers/objects.ts';
import type { Quirks, StructuredOutputDialect } from './quirks.ts';
import type { Call } from '../server/call.ts';
import { Refusal, relayed, type ErrorDetails } from '../server/errors.ts';

export type OutputFormat = 'json_schema' | 'json_object';

const invalidRequest = 'invalid_request_error';

/** Errors with which providers reject a format that the model does not support. */
const errors: Readonly<
  Record<
    StructuredOutputDialect,
    (format: OutputFormat, model: string) => ErrorDetails & { readonly status?: number }
  >
> = {
  openai: (format) => ({
    message: `Invalid parameter: 'response_format' of type '${format}' is not supported with this model.`,
    type: invalidRequest,
    param: 'response_format',
    code: null,
  }),
  azure: (format) => ({
    message: `response_format value as ${format} is enabled only for api versions 2024-08-01-preview and later`,
    type: '',
    code: 'BadRequest',
  }),
  cloudflare: () => ({
    message: "AiError: 5025: This model doesn't support JSON Schema.",
    type: invalidRequest,
    code: null,
  }),
  deepseek: () => ({
    message: 'This response_format type is unavailable now',
    type: invalidRequest,
    param: null,
    code: invalidRequest,
  }),
  fastapi: () => ({
    status: 422,
    message: 'Extra inputs are not permitted',
    type: 'extra_forbidden',
    param: 'response_format',
  }),
  google: (_, model) => ({
    message: `Json mode is not enabled for models/${model}`,
    type: invalidRequest,
    code: 'INVALID_ARGUMENT',
  }),
  groq: (format) => ({
    message: `This model does not support response format \`${format}\`.`,
    type: invalidRequest,
  }),
  siliconflow: () => ({
    message: 'Json mode is not supported for this model.',
    type: invalidRequest,
    code: 20_024,
  }),
  volcengine: (format) => ({
    message: `The parameter \`response_format.type\` specified in the request are not valid: \`${format}\` is not supported by this model`,
    type: 'BadRequest',
    param: 'response_format.type',
    code: 'InvalidParameter',
  }),
  xai: () => ({
    status: 422,
    message: 'The response_format parameter is unsupported at the moment. Leave it unset.',
    type: invalidRequest,
    code: 'Client specified an invalid argument',
  }),
};

/** Throws the provider's error if the model does not support the requested format. */
export function checkOutputFormat(
  { world: { models, quirks } }: Call,
  model: string,
  format: OutputFormat | undefined,
): void {
  const supported = models.find(({ id }) => id === model)?.structuredOutput ?? 'json_schema';
  if (format === undefined || supported === 'json_schema' || supported === format) return;
  const { status = 400, ...details } = errors[quirks.structuredOutputError](format, model);
  if (quirks.structuredOutputError === 'fastapi') throw new Refusal(status, 'fastapi', details);
  throw relayed(status, details);
}

/** Keys of which a JSON Schema has at least one. */
const schemaKeys = ['type', 'properties', 'items', 'enum', '$ref', 'anyOf', 'oneOf', 'allOf'];

/** Returns the JSON Schemas in a prompt: objects that look like one, after the word "schema". */
function findSchemas(prompt: string): { readonly start: number; readonly json: string }[] {
  let end = 0;
  return findAllJSON(prompt).filter(({ start, json }) => {
    const isNamed = /schema/i.test(prompt.slice(Math.max(end, start - 200), start));
    end = start + json.length;
    const value = parseJSON(json);
    return isNamed && isObject(value) && schemaKeys.some((key) => Object.hasOwn(value, key));
  });
}

/** Returns the last JSON Schema in a prompt; `undefined` if there is none. */
export function findPromptSchema(prompt: string): unknown {
  const found = findSchemas(prompt).at(-1);
  return found && parseJSON(found.json);
}

/** Returns a prompt up to the instructions for JSON; the rest without its schemas if nothing is before them. */
export function withoutSchemas(prompt: string): string {
  const schemas = findSchemas(prompt);
  if (schemas.length === 0) return prompt;
  const question = prompt.slice(0, prompt.search(/json|schema/i));
  if (/\p{L}/u.test(question)) return question;
  return schemas.reduce((rest, { json }) => rest.replace(json, () => ''), prompt);
}

/** Formats JSON like a model that only the prompt asks for JSON. */
const fenced = (json: string): string => `\`\`\`json\n${json}\n\`\`\``;

type Wrap = (json: string) => string;

const wraps: Readonly<Record<Exclude<Quirks['structuredOutputText'], 'plain'>, Wrap>> = {
  prose: (json) => `Here is the JSON [1]:\n\n${json}\n\nI hope that {helps}!`,
  'lost-think-tag': (json) => `The user wants {…}, so I answer.\n</think>\n\n${json}`,
  'double-fence': (json) => `${fenced(fenced(json))}\n\`\`\``,
  'byte-order-mark': (json) => `\uFEFF${json}`,
  'json-string': (json) => JSON.stringify(json),
};

/** Writes what a model writes around JSON. A fence, if only the prompt asks for it. */
export function wrapJSON(
  json: string,
  isPrompted: boolean,
  { structuredOutputText }: Quirks,
): string {
  if (structuredOutputText !== 'plain') return wraps[structuredOutputText](json);
  return isPrompted ? fenced(json) : json;
}
