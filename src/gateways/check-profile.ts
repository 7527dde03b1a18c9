import { isObject, isText } from '../answers/objects.ts';
import { check, shown } from '../options/check.ts';
import { endpoints, isOperation, type Operation, operations } from '../endpoints.ts';
import type { GatewayProfile } from '../options/gateway-profile.ts';

/** Throws unless a value is valid for a field. */
type FieldCheck = (field: string, value: unknown) => void;

/* @__NO_SIDE_EFFECTS__ */
const must =
  (wanted: string, fits: (value: unknown) => boolean): FieldCheck =>
  (field, value) =>
    check(fits(value), field, `must be ${wanted}, not ${shown(value)}.`);

/* @__NO_SIDE_EFFECTS__ */
const optional =
  (inner: FieldCheck): FieldCheck =>
  (field, value) => {
    if (value !== undefined) inner(field, value);
  };

/** Returns a check for an object that has only these fields, all optional. */
/* @__NO_SIDE_EFFECTS__ */
const fields = (checks: Readonly<Record<string, FieldCheck>>, noun = 'field'): FieldCheck => {
  const names = Object.keys(checks).join(', ');
  return (field, value) => {
    object(field, value);
    for (const name of Object.keys(Object(value))) {
      check(
        Object.hasOwn(checks, name),
        `${field}.${name}`,
        `is an unknown ${noun}; known are ${names}.`,
      );
    }
    for (const [name, inner] of Object.entries(checks)) {
      inner(`${field}.${name}`, Reflect.get(Object(value), name));
    }
  };
};

/* @__NO_SIDE_EFFECTS__ */
const each =
  (inner: FieldCheck): FieldCheck =>
  (field, value) => {
    object(field, value);
    for (const [name, item] of Object.entries(Object(value))) inner(`${field}.${name}`, item);
  };

/* @__NO_SIDE_EFFECTS__ */
const checkList =
  (inner: FieldCheck): FieldCheck =>
  (field, value) => {
    must('a list', Array.isArray)(field, value);
    for (const [index, item] of Object.entries(Object(value))) inner(`${field}[${index}]`, item);
  };

const object = must('an object', isObject);
const text = must('text', isText);
const texts = optional(checkList(text));
const run = must('a function', (value) => typeof value === 'function');
const isPath = (value: unknown): boolean =>
  isText(value) && /^\/[^?#\s]*$/.test(value) && !value.startsWith('//');
const path = must(
  'a path such as "/v1/images" or "/api/usage?id={id}"',
  (value) => isText(value) && isPath(value.split('?', 1)[0]) && !/[#\s]/.test(value),
);
const flag = optional(must('true or false', (value) => typeof value === 'boolean'));
const word = (...words: readonly unknown[]): FieldCheck =>
  must(`one of "${words.join('", "')}"`, (value) => words.includes(value));

const namesIn = (template: string): readonly string[] =>
  (template.match(/\{\+?\w+\}/g) ?? []).map((name) => name.replace('+', ''));

/** Checks that the paths have the parameters of their operations. Paths of POST requests may omit them. */
function checkPaths(field: string, { paths = {}, requests = {} }: GatewayProfile): void {
  for (const [name, value] of Object.entries(paths)) {
    if (!isOperation(name) || value === undefined) continue;
    const [required, found] = [namesIn(endpoints[name].path), namesIn(value)];
    const method = requests[name]?.method ?? endpoints[name].method;
    const hasAll = required.length === found.length || method === 'POST';
    const fits = hasAll && found.every((one) => required.includes(one));
    check(
      fits,
      `${field}.paths.${name}`,
      `must contain ${required.join(' and ') || 'no {parameter}'}, as ${endpoints[name].path} does.`,
    );
  }
}

/* @__NO_SIDE_EFFECTS__ */
const byOperation = (createCheck: (name: Operation) => FieldCheck): FieldCheck => {
  const checks = operations.map((name) => [name, optional(createCheck(name))]);
  return optional(fields(Object.fromEntries(checks), 'operation'));
};

const route = { path: path, read: run, isLimited: flag };

const profile = fields({
  name: text,
  hosts: texts,
  basePath: optional(
    must('a path such as "/api/v1", or ""', (value) => value === '' || isPath(value)),
  ),
  paths: byOperation(() => path),
  unsupported: byOperation(() => text),
  requests: byOperation((name) =>
    fields({
      body: optional(word('json', 'multipart')),
      method: optional(
        must('"POST", for a read', (value) => value === 'POST' && endpoints[name].method === 'GET'),
      ),
      names: optional(each(must('text or null', (value) => value === null || isText(value)))),
      write: optional(run),
    }),
  ),
  answers: byOperation(() => run),
  video: optional(
    fields({
      id: optional(text),
      status: optional(text),
      statuses: optional(each(word('queued', 'in_progress', 'completed', 'failed'))),
      url: optional(text),
      error: optional(text),
      contentId: optional(text),
    }),
  ),
  imageReferences: optional(checkList(must('text', (value) => typeof value === 'string'))),
  isMediaModel: optional(run),
  imageTask: optional(path),
  requestIdHeaders: texts,
  sentIdHeader: optional(
    must('the name of a header', (value) => isText(value) && /^[\w-]+$/.test(value)),
  ),
  readCost: optional(run),
  account: optional(
    fields({
      isLogged: optional(run),
      isUnsupported: optional(run),
      charges: optional(fields(route)),
      charge: optional(fields(route)),
      balance: optional(checkList(fields({ paths: checkList(path), read: run, isLimited: flag }))),
      prices: optional(fields(route)),
    }),
  ),
});

function checkFields(field: string, value: object): asserts value is GatewayProfile {
  profile(field, value);
}

/** @throws `InvalidInputError` naming the invalid field */
export function checkProfile(field: string, value: object): asserts value is GatewayProfile {
  checkFields(field, value);
  checkPaths(field, value);
}
