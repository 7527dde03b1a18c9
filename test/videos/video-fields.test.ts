import { findId } from '../../src/answers/objects.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readValue } from '../../src/answers/reader.ts';
import {
  findFailure,
  noReason,
  readsLikeReview,
  progressOf,
  resultURLOf,
  timestampOf,
  videoSchema,
} from '../../src/videos/schema.ts';
import { readStatusWord } from '../../src/videos/schema.ts';
import type { ResponseIssue } from '../../src/types.ts';
import type { JsonObject } from '../../src/types.ts';

const url = 'https://cdn.example/v.mp4';

function read(body: JsonObject) {
  const issues: ResponseIssue[] = [];
  const task = readValue(structuredClone(body), videoSchema, {
    validation: 'tolerant',
    onIssue: (issue) => issues.push(issue),
  });
  return { task, issues };
}

/** The gateway's own record, inside its wrapper. */
function record(fields: JsonObject): JsonObject {
  const task = { id: 41, task_id: 'task_abc', fail_reason: '', result_url: '', ...fields };
  return { code: 'success', message: '', data: task };
}

describe('rule 37: the task id', () => {
  test.each<[JsonObject, string | undefined]>([
    [{ id: 'a', task_id: 'b' }, 'a'],
    [{ id: '', task_id: 'b' }, 'b'],
    [{ id: null, task_id: ' b ' }, 'b'],
    [{ video_id: 'c' }, 'c'],
    [{ data: { task_id: 'd', id: 41 } }, 'd'],
    [{ data: { id: 'e' } }, 'e'],
    [{ data: [{ id: 'f' }] }, 'f'],
    [{ request_id: 'r', output: { task_id: 'g', task_status: 'PENDING' } }, 'g'],
    [{ code: 0, data: { output: { task_id: 'h' } } }, 'h'],
    [{ data: null, result: { task_id: 'i', id: 7 } }, 'i'],
    [{ result: { data: { id: 'j' } } }, 'j'],
    [{ task: { id: 'k' } }, 'k'],
    [{ data: { video_id: 'l' } }, 'l'],
    [{ taskId: 'm' }, 'm'],
    [{ code: 0, data: { taskId: 'n', id: 41 } }, 'n'],
    [{ job_id: 'o' }, 'o'],
    [{ video: { id: 'p', url } }, 'p'],
    [{ response: { task_id: 'q', id: 41 } }, 'q'],
    [{ id: 'a', video: { id: 'of the file' } }, 'a'],
    [{ id: 'a', output: { task_id: 'of the vendor' } }, 'a'],
    [{ data: { id: 'b', data: { task_id: 'of the vendor' } } }, 'b'],
    [{ request_id: 'r', error: { id: 'e' } }, undefined],
    [{ request_id: 'r' }, 'r'],
    [{ request_id: 'r', status: 'IN_QUEUE', status_url: 'https://queue.test/r' }, 'r'],
    [{ request_id: 'r', id: 'a' }, 'a'],
    [{ request_id: 'r', data: { task_id: 'b' } }, 'b'],
    [{ request_id: 'r', error: 'No' }, undefined],
    [{ request_id: 'r', code: 'InvalidParameter', message: 'No' }, undefined],
    [{ request_id: 'r', message: 'No' }, undefined],
    [{ request_id: 'r', base_resp: { status_code: 1004 } }, undefined],
    [{ request_id: 'r', data: [{ url }] }, undefined],
    [{ request_id: '' }, undefined],
    [{ request_id: 7 }, undefined],
    [{ id: 8801 }, '8801'],
    [{ id: 0, task_id: 'b' }, 'b'],
    [{ id: 2 ** 60, task_id: 'b' }, 'b'],
    [{ id: 2 ** 60 }, undefined],
    [{ id: {}, task_id: [] }, undefined],
    [{}, undefined],
  ])('%j gives %j', (body, id) => {
    expect(findId(body)).toBe(id);
  });
});

describe('rule 38: status words', () => {
  test.each([
    ['queued', 'queued queueing pending submitted created in_queue preparing not_start waiting'],
    ['in_progress', 'in_progress processing running generating rendering'],
    ['completed', 'completed complete succeeded succeed success done finished'],
    [
      'failed',
      'failed fail failure error errored aborted timed_out timeout cancelled canceled terminated expired rejected moderated cancelling canceling cancel abort killed interrupted blocked filtered denied refused revoked TASK_FAILED STATUS_FAILED JOB_STATE_FAILED',
    ],
    ['completed', 'TASK_STATUS_SUCCEED JOB_STATE_SUCCEEDED'],
    ['in_progress', 'TASK_RUNNING STATE_PROCESSING'],
  ])('%s is also spelled %s', (status, list) => {
    for (const word of list.split(' ')) {
      const spellings = [word, word.toUpperCase(), word.replace('_', ' '), word.replace('_', '-')];
      for (const spelling of spellings) {
        expect(readStatusWord(spelling)).toEqual({ status, word: 'known' });
      }
    }
  });

  test.each([undefined, '', ' ', 'unknown', 'UNKNOWN', 'TASK_UNKNOWN'])(
    'trap 9: %j says nothing yet',
    (word) => {
      expect(readStatusWord(word)).toEqual({ status: 'queued', word: 'empty' });
    },
  );

  test('trap 10: a word that nobody knows counts as pending', () => {
    for (const word of ['warming up', 'task', 'JOB_STATE', 'failed_task']) {
      expect(readStatusWord(word)).toEqual({ status: 'queued', word: 'foreign' });
    }
  });

  test('property: no word is ever a failure but the listed ones', () => {
    const listed =
      /^(job|task)?(state|status)?(failed|fail|failure|error|errored|abort|aborted|timedout|timeout|cancel|cancell?(ed|ing)|killed|interrupted|blocked|filtered|denied|refused|revoked|terminated|expired|rejected|moderated)$/;
    fc.assert(
      fc.property(fc.string(), (word) => {
        const isListed = listed.test(word.toLowerCase().replace(/[\s_-]/g, ''));
        expect(readStatusWord(word).status === 'failed').toBe(isListed);
      }),
    );
  });

  test.each<[string, JsonObject, string, string | undefined]>([
    ['at the top', { id: 'a', status: 'RUNNING' }, 'in_progress', 'RUNNING'],
    ['inside data', { id: 'a', data: { status: 'SUCCESS' } }, 'completed', 'SUCCESS'],
    ['as the vendor writes it', { data: { task_status: 'succeed' } }, 'completed', 'succeed'],
    ['in an output', { id: 'a', output: { task_status: 'RUNNING' } }, 'in_progress', 'RUNNING'],
    ['in a result', { result: { id: 'a', status: 'fail' } }, 'failed', 'fail'],
    [
      'in an output beside a word about the request',
      { status: 'success', output: { task_id: 'a', task_status: 'RUNNING' } },
      'in_progress',
      'RUNNING',
    ],
    [
      'in a wrapper whose own word is about the request',
      { status: 'success', data: { task_id: 'a', status: 'processing' } },
      'in_progress',
      'processing',
    ],
    ['nowhere', { id: 'a' }, 'queued', undefined],
    ['as null', { id: 'a', status: null }, 'queued', undefined],
  ])('the word is found %s', (_, body, status, raw) => {
    const { task } = read(body);

    expect(task.status).toBe(status);
    expect(task.raw_status).toBe(raw);
  });
});

describe('a status word that says nothing', () => {
  test.each(['unknown', 'baking', '', undefined])(
    '%j with a result is a completed task',
    (word) => {
      const { task } = read({ id: 'a', status: word, metadata: { url } });

      expect(task).toMatchObject({ status: 'completed', inferred: true, url });
    },
  );

  test.each([
    { status: 'unknown' },
    { status: 'baking', metadata: { url: '' } },
    { status: 'baking', progress: 100 },
    { status: 'baking', result_url: 'The vendor refused the prompt.' },
    { status: 'in_progress', progress: 100, url },
    { status: 'queued', metadata: { url } },
  ])('trap 11, trap 12: %j is still waited for', (body) => {
    const { task } = read({ id: 'a', ...body });

    expect(task.status).toMatch(/queued|in_progress/);
    expect(task).not.toHaveProperty('inferred');
    expect(task).not.toHaveProperty('url');
  });
});

describe('rule 39: why a task failed', () => {
  test.each<[JsonObject, string, string | undefined]>([
    [{ error: { message: 'A', code: 'b' }, fail_reason: 'C' }, 'A', 'b'],
    [{ error: { message: 'A', code: 1301 } }, 'A', '1301'],
    [{ error: { message: 'A', code: '' } }, 'A', undefined],
    [{ error: 'plain text' }, 'plain text', undefined],
    [{ error: null, fail_reason: 'C' }, 'C', undefined],
    [{ error: { message: '' }, message: 'D' }, 'D', undefined],
    [{ error: { message: '', code: 'content_policy' } }, 'content_policy', 'content_policy'],
    [{ data: { fail_reason: 'E' } }, 'E', undefined],
    [{ data: { error: { message: 'F', code: 7 } } }, 'F', '7'],
    [{ message: 'SUCCEED', data: { task_status_msg: 'G' } }, 'G', undefined],
    [{ message: 'SUCCEED', data: { data: { task_status_msg: 'H' } } }, 'H', undefined],
    [{ error: '{"error":{"message":"inner"}}' }, 'inner', undefined],
    [{ error: '{broken' }, '{broken', undefined],
    [{ message: 'SUCCEED' }, noReason, undefined],
    [{ message: 'ok' }, noReason, undefined],
    [{ error: {} }, noReason, undefined],
    [{ output: { task_status: 'FAILED', code: 'Size', message: 'I' } }, 'I', 'Size'],
    [{ data: { fail_reason: '', data: { output: { message: 'J' } } } }, 'J', undefined],
    [{ output: { message: 'Success' }, message: 'K' }, 'K', undefined],
    [{ output: { error: 'L' } }, 'L', undefined],
    [{ base_resp: { status_code: 1026, status_msg: 'M' } }, 'M', '1026'],
    [{ base_resp: { status_code: 0, status_msg: 'success' } }, noReason, undefined],
    [{ state: 'failed', err_code: 'PromptPolicy' }, 'PromptPolicy', 'PromptPolicy'],
    [{ failure: 'N', failureCode: 'SAFETY.INPUT' }, 'N', 'SAFETY.INPUT'],
    [{ failure_reason: 'O' }, 'O', undefined],
    [{ error_message: 'P', error_code: 5 }, 'P', '5'],
    [{ error: [{ message: 'Q', code: 'q' }] }, 'Q', 'q'],
    [{ errors: [{ message: 'R' }] }, 'R', undefined],
    [{ error: { error: { message: 'S', code: 's' } } }, 'S', 's'],
    [{ code: 'success', reason: 'T' }, 'T', undefined],
    [{ detail: 'U' }, 'U', undefined],
    [{ detail: [{ msg: 'V' }] }, noReason, undefined],
    [{}, noReason, undefined],
  ])('%j', (body, message, code) => {
    expect(findFailure(body)).toEqual(code === undefined ? { message } : { message, code });
  });

  test('an error of a task that has not failed is not passed on', () => {
    const body = { id: 'a', status: 'processing', error: { code: 10_001, message: 'wait' } };
    const { task, issues } = read(body);

    expect(task.error).toBeNull();
    expect(task.raw).toEqual(body);
    expect(issues).toEqual([]);
  });

  test('trap 11: a reason next to a success is no failure, and an old build has the result there', () => {
    const { task } = read(record({ status: 'SUCCESS', fail_reason: url, result_url: undefined }));

    expect(task).toMatchObject({ status: 'completed', error: null, url });
  });

  test.each([
    ['The content was rejected by the safety review.', undefined, true],
    ['提示词包含敏感内容', undefined, true],
    ['Refused.', 'content_policy_violation', true],
    ['AuditSubmitIllegal', 'AuditSubmitIllegal', true],
    ['Post Text Risk Not Pass', '50412', true],
    ['No GPU was free.', 'internal', false],
    ['The audit log is full.', undefined, false],
    [noReason, undefined, false],
  ])('%j with code %j reads like a review: %j', (message, code, moderated) => {
    expect(readsLikeReview({ message, code })).toBe(moderated);
  });
});

describe('rule 40: where the result is', () => {
  const places: [string, JsonObject][] = [
    ['metadata.url', { metadata: { url } }],
    ['url', { url }],
    ['video_url', { video_url: url }],
    ['video.url', { video: { url, duration: 8 } }],
    ['result_url', { result_url: url }],
    ['output.video_url', { output: { video_url: url } }],
    ['output', { output: [url] }],
    ['content.video_url', { content: { video_url: url } }],
    ['data.url', { data: { url } }],
    ['data.result_url', { data: { result_url: url } }],
    ['data.task_result', { data: { task_result: { videos: [{ url }] } } }],
    ['data.data.data', { data: { data: { data: { task_result: { videos: [{ url }] } } } } }],
  ];

  test.each(places)('%s of a completed task', (_, fields) => {
    expect(read({ id: 'a', status: 'completed', ...fields }).task.url).toBe(url);
  });

  test.each(places)('%s is ignored on a failed task', (_, fields) => {
    const { task } = read({ id: 'a', status: 'failed', ...fields });

    expect(task).not.toHaveProperty('url');
    expect(task.error).not.toBeNull();
  });

  test.each([
    [url, url],
    ['data:video/mp4;base64,AAAA', 'data:video/mp4;base64,AAAA'],
    ['', undefined],
    ['The vendor refused the prompt.', undefined],
    ['https://cdn.example/a b failed', undefined],
    ['https://', undefined],
    ['ftp://cdn.example/v.mp4', undefined],
    ['javascript:alert(1)', undefined],
    ['data: not available', undefined],
    [null, undefined],
    [7, undefined],
  ])('trap 11: %j is the URL %j', (value, expected) => {
    expect(resultURLOf(value)).toBe(expected);
  });
});

describe('rule 41: progress', () => {
  test.each([
    [85, 85],
    ['85%', 85],
    ['85', 85],
    [' 85 % ', 85],
    [0.85, 85],
    [0, 0],
    [1, 1],
    [100, 100],
    ['', undefined],
    ['soon', undefined],
    [-1, undefined],
    [101, undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [{}, undefined],
  ])('%j is %j', (value, expected) => {
    expect(progressOf(value)).toBe(expected);
  });

  test('progress in the record of the gateway is found', () => {
    expect(read(record({ status: 'IN_PROGRESS', progress: '30%' })).task.progress).toBe(30);
  });
});

describe('rule 43, trap 25: times', () => {
  test.each([
    [1_790_000_123, 1_790_000_123],
    [1_790_000_123_456, 1_790_000_123],
    ['1790000123', 1_790_000_123],
    [0, undefined],
    ['', undefined],
    [null, undefined],
    ['yesterday', undefined],
  ])('%j is %j seconds', (value, expected) => {
    expect(timestampOf(value)).toBe(expected);
  });

  test('rule 43: completed_at says nothing about completion', () => {
    const { task } = read({ id: 'a', status: 'queued', completed_at: 1_790_000_123 });

    expect(task).toMatchObject({ status: 'queued', completed_at: 1_790_000_123 });
  });

  test('the record of the gateway has its own names', () => {
    const { task } = read(record({ submit_time: 1_790_000_100, finish_time: 1_790_000_200 }));

    expect(task).toMatchObject({ created_at: 1_790_000_100, completed_at: 1_790_000_200 });
  });
});

describe('reading a video body', () => {
  test('known variants are no drift, and nothing that came is lost', () => {
    const body = {
      id: 8801,
      task_id: 'inner',
      object: null,
      status: 'SUBMITTED',
      progress: '0%',
      created_at: '1790000123',
      seconds: 8,
      size: null,
      error: 'none',
      metadata: null,
      new_field: { kept: true },
    };
    const { task, issues } = read(body);

    expect(issues).toEqual([]);
    expect(task).toMatchObject({
      id: '8801',
      task_id: '8801',
      status: 'queued',
      raw_status: 'SUBMITTED',
      progress: 0,
      seconds: '8',
      new_field: { kept: true },
    });
    expect(task.raw).toEqual(body);
    expect(Object.keys(task)).not.toContain('raw');
  });

  test('a field of a new type is drift', () => {
    expect(read({ id: 'a', progress: { percent: 1 } }).issues).toEqual([
      expect.objectContaining({ path: 'progress', received: 'object' }),
    ]);
  });

  test('property: any object gives a task in one of four states, with its body as it came', () => {
    const field = fc.constantFrom(
      'id',
      'task_id',
      'status',
      'task_status',
      'progress',
      'error',
      'url',
      'metadata',
      'data',
      'created_at',
      'message',
      'fail_reason',
      'output',
      'task_result',
      'ref',
      'raw',
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('SUCCESS', 'failed', 'unknown', url, '50%', 1_790_000_123_000),
      fc.dictionary(field, fc.jsonValue()),
    );
    fc.assert(
      fc.property(fc.dictionary(field, value), (body) => {
        const { task } = read(body);

        expect(['queued', 'in_progress', 'completed', 'failed']).toContain(task.status);
        expect(typeof task.id).toBe('string');
        expect(task.task_id).toBe(task.id);
        expect(task.raw).toEqual(body);
        expect(task.progress ?? 0).toBeGreaterThanOrEqual(0);
        expect(task.progress ?? 0).toBeLessThanOrEqual(100);
        if (task.url !== undefined) expect(task.url).toMatch(/^(https?|data):/i);
        if (task.status !== 'completed') expect(task).not.toHaveProperty('url');
        expect(task.error === null).toBe(task.status !== 'failed');
        expect(task.error?.message).not.toBe('');
      }),
      { numRuns: 1_000 },
    );
  });
});
