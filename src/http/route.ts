import { parseJSON } from '../answers/objects.ts';
import type { ResponseSchema } from '../answers/reader.ts';
import { check } from '../check.ts';
import { type ChargeClass, endpoints } from '../endpoints.ts';
import { explainSubmission } from '../errors/operation-errors.ts';
import type { AnswerFormat } from './call.ts';
import { type BodyEncoding, type CallSpec, type RawRequestOptions, taskRoleOf } from './request.ts';
import { attachRequestId, ReadFailure, readText, unusable } from './response-body.ts';
import { kindOfText, notJSON, readChecked, throwIfError, typeOf } from './response.ts';
import type { BaseURL } from './url.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110, 9.2.2: these methods may be repeated; of any other it is not known what it costs. */
const repeatable: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Whether a path is made of a template such as `/v1/videos/{task_id}/content`. */
function isMadeOf(template: string, path: string): boolean {
  const given = path.split('/');
  const parts = template.split('/');
  return (
    parts.length === given.length &&
    given.every((segment, index) => {
      const [start = '', end] = parts[index]?.split(/\{\w+\}/) ?? [];
      if (end === undefined) return segment === start;
      const isLong = segment.length > start.length + end.length;
      return isLong && segment.startsWith(start) && segment.endsWith(end);
    })
  );
}

function operationAt(method: string, path: string): readonly [name: string, charge: ChargeClass] {
  for (const [name, endpoint] of Object.entries(endpoints)) {
    if (endpoint.method === method && isMadeOf(endpoint.path, path)) return [name, endpoint.charge];
  }
  return ['', repeatable.includes(method) ? 'free' : 'charged'];
}

/** The characters that URL parsers drop or turn into a slash, so that `..` could hide behind them. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const hiddenCharacters = /[\u0000-\u001F\u007F\\]/;

/**
 * The path of a route, below the root.
 *
 * A client whose base URL ended with `/v1` means paths below `/v1`, as `openai` does; a path that
 * names its version itself, also behind a vendor prefix, is taken as it is.
 */
export function resolvePath(path: string, version: BaseURL['version']): string {
  const text = typeof path === 'string' ? path.trim() : '';
  const field = 'path';
  check(text !== '', field, 'is empty; give a path such as "/v1/models".');
  check(
    !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(text),
    field,
    'must be a path below baseURL, not a URL: the key is never sent to another place.',
  );
  const hidesNothing = !hiddenCharacters.test(path);
  check(hidesNothing, field, 'may not hold a backslash or a control character.');
  check(!text.includes('#'), field, 'may not hold "#"; write %23 if it belongs to a name.');
  const rooted = text.startsWith('/') ? text : `/${text}`;
  const climbs = /^[^?]*\/(\.|%2e){1,2}([/?]|$)/i.test(rooted);
  check(!climbs, field, 'may not hold "." or ".." segments.');
  return /^(\/[^/?]+)?\/v1(beta)?([/?]|$)/.test(rooted) ? rooted : version + rooted;
}

/**
 * Makes the call of a route by its path. What a documented operation costs is known; any other `POST` or
 * `PATCH` counts as charged. The caller may say that a call is to be sent as a charged one.
 *
 * @param form - Its body, when that is not JSON.
 */
export function routeSpec(
  given: unknown,
  path: string,
  version: BaseURL['version'],
  options: RawRequestOptions | undefined,
  form: BodyEncoding | undefined,
): CallSpec {
  const method = String(given).toUpperCase();
  check(methods.includes(method), 'method', `must be one of ${methods.join(', ')}.`);
  const isRead = method === 'GET';
  check(!isRead || options?.body === undefined, 'body', 'cannot go with a GET; use query instead.');
  const resolved = resolvePath(path, version);
  const [plainPath = ''] = resolved.split('?', 1);
  const [operation, charge] = operationAt(method, plainPath);
  const task = taskRoleOf(operation, charge) ?? 'reads';
  return {
    operation: `${method} ${plainPath}`,
    method,
    path: resolved,
    query: undefined,
    charge: options?.retryUnknownOutcome === false ? 'charged' : charge,
    task,
    explain: task === 'creates' ? explainSubmission : undefined,
    accept: options?.stream === true ? 'text/event-stream' : 'application/json',
    json: form ? undefined : options?.body,
    form,
    options,
  };
}

/** Whether text is a page, as the gateway and proxies answer on paths that they do not know. */
export function isPage(text: string): boolean {
  return /^\s*<(!doctype html|html)[\s>]/i.test(text);
}

/**
 * An answer in text, or in JSON where text was asked for.
 *
 * @param fromText - Makes a value of the text, with what reads parsed JSON, or says what is wrong with it.
 */
export function textAnswer<T>(
  fromText: (
    text: string,
    read: <Parsed>(value: unknown, schema: ResponseSchema<Parsed>) => Parsed,
  ) => { readonly value: T } | { readonly problem: string },
): AnswerFormat<T, 'text'> {
  return {
    kind: 'text',
    async read(call, answer) {
      const text = await readText(answer, call.settings.maxResponseBytes);
      if (isPage(text)) throw notJSON(text, answer);
      throwIfError(parseJSON(text), answer, text);
      const result = fromText(text, (value, schema) =>
        readChecked(call, answer, value, schema, text),
      );
      if ('problem' in result) throw new ReadFailure(unusable(answer, result.problem, text));
      attachRequestId(result.value, answer.requestId);
      return result;
    },
  };
}

/** Parsed JSON, or text when it is not JSON. */
export const valueAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  read: (call, answer) =>
    textAnswer((text) => {
      const isLabelled = /\bjson\b/.test(typeOf(answer.response));
      const looksLikeJSON = kindOfText(text) === 'json';
      const value = isLabelled || looksLikeJSON ? parseJSON(text) : undefined;
      if (value !== undefined) return { value };
      if (isLabelled && looksLikeJSON) return { problem: 'the answer is not JSON.' };
      return { value: answer.response.status === 204 ? null : text };
    }).read(call, answer),
};
