import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { makeRef, parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import { resolveTask } from '../../../src/resources/videos/ref.ts';

const ref = {
  v: 1,
  kind: 'video',
  id: 'task_1',
  route: { type: 'openai' },
  baseURL: 'https://gateway.test',
  createdAt: 1_790_000_123_000,
};

describe('parseVideoTaskRef()', () => {
  test('reads the handle of makeRef() after JSON', () => {
    const made = makeRef({
      id: 'task_2',
      baseURL: 'https://gateway.test/api',
      createdAt: 5,
      route: { type: 'vendor', vendorPrefix: 'kling' },
      model: 'm',
      callId: 'call_1',
      remixOf: 'task_1',
    });

    expect(parseVideoTaskRef(JSON.parse(JSON.stringify(made)))).toEqual(made);
  });

  test('drops unknown fields', () => {
    expect(parseVideoTaskRef({ ...ref, apiKey: 'sk-secret', model: null })).toStrictEqual(ref);
  });

  test('removes a trailing slash from the base URL', () => {
    expect(parseVideoTaskRef({ ...ref, baseURL: 'https://GATEWAY.test/' })).toEqual(ref);
  });

  test.each<[string, unknown]>([
    ['ref', JSON.stringify(ref)],
    ['ref', null],
    ['ref', [ref]],
    ['ref.kind', {}],
    ['ref.v', { ...ref, v: 2 }],
    ['ref.v', { ...ref, v: undefined }],
    ['ref.id', { ...ref, id: '' }],
    ['ref.id', { ...ref, id: 7 }],
    ['ref.id', { ...ref, id: '..' }],
    ['ref.route', { ...ref, route: undefined }],
    ['ref.route', { ...ref, route: { type: 'other' } }],
    ['ref.route.vendorPrefix', { ...ref, route: { type: 'vendor', vendorPrefix: '../v1' } }],
    ['ref.baseURL', { ...ref, baseURL: 'gateway.test' }],
    ['ref.baseURL', { ...ref, baseURL: 'file:///etc/passwd' }],
    ['ref.baseURL', { ...ref, baseURL: 'https://user:secret@gateway.test' }],
    ['ref.baseURL', { ...ref, baseURL: 'https://gateway.test/?key=secret' }],
    ['ref.createdAt', { ...ref, createdAt: '2026-01-01' }],
    ['ref.createdAt', { ...ref, createdAt: -1 }],
    ['ref.callId', { ...ref, callId: 1 }],
  ])('names %s in %j', (field, value) => {
    expect(() => parseVideoTaskRef(value)).toThrow(InvalidInputError);
    expect(() => parseVideoTaskRef(value)).toThrow(new RegExp(`^${field.replace('.', '\\.')}: `));
  });

  test('an error does not quote the input', () => {
    expect(() => parseVideoTaskRef({ ...ref, baseURL: 'https://u:secret@h' })).not.toThrow(
      /secret/,
    );
  });

  test('property: returns plain JSON that it accepts again', () => {
    const part = fc.oneof(fc.string(), fc.jsonValue());
    const near = fc.record(
      {
        v: fc.constantFrom(1, 2),
        kind: fc.constantFrom('video', 'image'),
        id: part,
        route: fc.oneof(fc.constant(ref.route), fc.jsonValue()),
        baseURL: fc.oneof(
          fc.constantFrom('https://a.test/', 'http://b.test:8080/api', 'ftp://c.test'),
          part,
        ),
        createdAt: fc.oneof(fc.nat(), part),
        model: part,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(near, (value) => {
        try {
          const parsed = parseVideoTaskRef(value);
          expect(parseVideoTaskRef(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed);
        } catch (error) {
          expect(InvalidInputError.isInstance(error)).toBe(true);
        }
      }),
    );
  });
});

describe('input in place of a task', () => {
  const baseURL = 'https://other.test';

  test('accepts an id, a handle, a task, and a task from JSON', () => {
    const handle = parseVideoTaskRef(ref);
    const task = {
      id: 'task_1',
      task_id: 'task_1',
      status: 'queued',
      ref: handle,
      raw: {},
    } as const;

    const made = { v: 1, kind: 'video', id: 'task_1', baseURL, route: { type: 'openai' } };
    expect(resolveTask('task_1', baseURL)).toMatchObject({ ref: made });
    const resolved = { ref: handle, handle };
    expect(resolveTask(handle, baseURL)).toEqual(resolved);
    expect(resolveTask(task, baseURL)).toEqual(resolved);
    const { ref: _ref, ...plain } = task;
    const read: unknown = Reflect.apply(resolveTask, undefined, [plain, baseURL]);
    expect(read).toMatchObject({ ref: made });
    expect(read).not.toHaveProperty('handle');
  });

  test.each([undefined, null, 7, '', '  ', '.', '..', {}, { id: 7 }, []])(
    '%j is rejected',
    (value) => {
      expect(() => Reflect.apply(resolveTask, undefined, [value, baseURL])).toThrow(
        InvalidInputError,
      );
    },
  );
});
