import { findFailure, noReason } from '../../../src/answers/failure.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readValue } from '../../../src/answers/reader.ts';
import { readProgress, readsLikeReview, readStatusWord } from '../../../src/tasks/reading.ts';
import {
  findTaskId,
  toResultURL,
  toTimestamp,
  videoSchemaFor,
} from '../../../src/resources/videos/schema.ts';
import type { ResponseIssue } from '../../../src/types.ts';
import type { JsonObject } from '../../../src/types.ts';

const url = 'https://cdn.example/v.mp4';

function read(body: JsonObject) {
  const issues: ResponseIssue[] = [];
  const task = readValue(structuredClone(body), videoSchemaFor([]), {
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

describe('the task id', () => {
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
    [{ request_id: 'r', output: { task_status: 'FAILED', message: 'No' } }, undefined],
    [{ request_id: 'r', result: { status: 'failed' } }, undefined],
    [{ request_id: '' }, undefined],
    [{ request_id: 7 }, undefined],
    [{ id: 8801 }, '8801'],
    [{ id: 0, task_id: 'b' }, 'b'],
    [{ id: 2 ** 60, task_id: 'b' }, 'b'],
    [{ id: 2 ** 60 }, undefined],
    [{ id: {}, task_id: [] }, undefined],
    [{}, undefined],
  ])('%j returns %j', (body, id) => {
    expect(findTaskId(body)).toBe(id);
  });
});

describe('status words', () => {
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
    '%j counts as queued',
    (word) => {
      expect(readStatusWord(word)).toEqual({ status: 'queued', word: 'empty' });
    },
  );

  test('an unknown status counts as pending', () => {
    for (const word of ['warming up', 'task', 'JOB_STATE', 'failed_task']) {
      expect(readStatusWord(word)).toEqual({ status: 'queued', word: 'foreign' });
    }
  });

  test('property: only listed statuses are failures', () => {
    const listed =
      /^(job|task)?(state|status)?(failed|fail|failure|error|errored|abort|aborted|timedout|timeout|cancel|cancell?(ed|ing)|killed|interrupted|blocked|filtered|denied|refused|revoked|terminated|expired|rejected|moderated)$/;
    fc.assert(
      fc.property(fc.string(), (word) => {
        const isListed = listed.test(word.toLowerCase().replace(/[\s_-]/g, ''));
        expect(readStatusWord(word).status === 'failed').toBe(isListed);
      }),
    );
  });

  test.each<{ name: string; body: JsonObject; status: string; raw: string | undefined }>([
    {
      name: 'at the top',
      body: { id: 'a', status: 'RUNNING' },
      status: 'in_progress',
      raw: 'RUNNING',
    },
    {
      name: 'inside data',
      body: { id: 'a', data: { status: 'SUCCESS' } },
      status: 'completed',
      raw: 'SUCCESS',
    },
    {
      name: 'as the vendor writes it',
      body: { data: { task_status: 'succeed' } },
      status: 'completed',
      raw: 'succeed',
    },
    {
      name: 'in an output',
      body: { id: 'a', output: { task_status: 'RUNNING' } },
      status: 'in_progress',
      raw: 'RUNNING',
    },
    {
      name: 'in a result',
      body: { result: { id: 'a', status: 'fail' } },
      status: 'failed',
      raw: 'fail',
    },
    {
      name: 'in an output beside a word about the request',
      body: { status: 'success', output: { task_id: 'a', task_status: 'RUNNING' } },
      status: 'in_progress',
      raw: 'RUNNING',
    },
    {
      name: 'in a wrapper whose own word is about the request',
      body: { status: 'success', data: { task_id: 'a', status: 'processing' } },
      status: 'in_progress',
      raw: 'processing',
    },
    {
      name: 'nowhere in a wrapper whose word is about the request, as the task has a number',
      body: { status: 'success', data: { status: 1 } },
      status: 'queued',
      raw: undefined,
    },
    { name: 'nowhere', body: { id: 'a' }, status: 'queued', raw: undefined },
    { name: 'as null', body: { id: 'a', status: null }, status: 'queued', raw: undefined },
  ])('the status is found $name', ({ body, status, raw }) => {
    const { task } = read(body);

    expect(task.status).toBe(status);
    expect(task.raw_status).toBe(raw);
  });
});

describe('an unknown status', () => {
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
  ])('%j is still pending', (body) => {
    const { task } = read({ id: 'a', ...body });

    expect(task.status).toMatch(/queued|in_progress/);
    expect(task).not.toHaveProperty('inferred');
    expect(task).not.toHaveProperty('url');
  });
});

describe('why a task failed', () => {
  test.each<{ body: JsonObject; message: string; code: string | undefined }>([
    { body: { error: { message: 'A', code: 'b' }, fail_reason: 'C' }, message: 'A', code: 'b' },
    { body: { error: { message: 'A', code: 1301 } }, message: 'A', code: '1301' },
    { body: { error: { message: 'A', code: '' } }, message: 'A', code: undefined },
    { body: { error: 'plain text' }, message: 'plain text', code: undefined },
    { body: { error: null, fail_reason: 'C' }, message: 'C', code: undefined },
    { body: { error: { message: '' }, message: 'D' }, message: 'D', code: undefined },
    {
      body: { error: { message: '', code: 'content_policy' } },
      message: 'content_policy',
      code: 'content_policy',
    },
    { body: { data: { fail_reason: 'E' } }, message: 'E', code: undefined },
    { body: { data: { error: { message: 'F', code: 7 } } }, message: 'F', code: '7' },
    { body: { message: 'SUCCEED', data: { task_status_msg: 'G' } }, message: 'G', code: undefined },
    {
      body: { message: 'SUCCEED', data: { data: { task_status_msg: 'H' } } },
      message: 'H',
      code: undefined,
    },
    { body: { error: '{"error":{"message":"inner"}}' }, message: 'inner', code: undefined },
    {
      body: { fail_reason: '{"output":{"task_status":"FAILED","code":"Size","message":"AA"}}' },
      message: 'AA',
      code: undefined,
    },
    { body: { fail_reason: '{"data":{"task_status_msg":"AB"}}' }, message: 'AB', code: undefined },
    { body: { message: '{"result":{"message":"AC"}}' }, message: 'AC', code: undefined },
    { body: { error: '{"task":{"error":"AD"}}' }, message: 'AD', code: undefined },
    { body: { error: '{broken' }, message: '{broken', code: undefined },
    { body: { message: 'SUCCEED' }, message: noReason, code: undefined },
    { body: { message: 'ok' }, message: noReason, code: undefined },
    { body: { error: {} }, message: noReason, code: undefined },
    {
      body: { output: { task_status: 'FAILED', code: 'Size', message: 'I' } },
      message: 'I',
      code: 'Size',
    },
    {
      body: { data: { fail_reason: '', data: { output: { message: 'J' } } } },
      message: 'J',
      code: undefined,
    },
    { body: { output: { message: 'Success' }, message: 'K' }, message: 'K', code: undefined },
    { body: { output: { error: 'L' } }, message: 'L', code: undefined },
    { body: { base_resp: { status_code: 1026, status_msg: 'M' } }, message: 'M', code: '1026' },
    {
      body: { base_resp: { status_code: 0, status_msg: 'success' } },
      message: noReason,
      code: undefined,
    },
    {
      body: { state: 'failed', err_code: 'PromptPolicy' },
      message: 'PromptPolicy',
      code: 'PromptPolicy',
    },
    { body: { failure: 'N', failureCode: 'SAFETY.INPUT' }, message: 'N', code: 'SAFETY.INPUT' },
    { body: { failure_reason: 'O' }, message: 'O', code: undefined },
    { body: { error_message: 'P', error_code: 5 }, message: 'P', code: '5' },
    { body: { failedReason: 'W' }, message: 'W', code: undefined },
    { body: { data: { failedReason: 'X', failCode: 'x' } }, message: 'X', code: 'x' },
    { body: { failReason: 'Y' }, message: 'Y', code: undefined },
    { body: { failMsg: 'Z', failCode: 422 }, message: 'Z', code: '422' },
    { body: { error: [{ message: 'Q', code: 'q' }] }, message: 'Q', code: 'q' },
    { body: { errors: [{ message: 'R' }] }, message: 'R', code: undefined },
    { body: { error: { error: { message: 'S', code: 's' } } }, message: 'S', code: 's' },
    { body: { code: 'success', reason: 'T' }, message: 'T', code: undefined },
    { body: { detail: 'U' }, message: 'U', code: undefined },
    { body: { detail: [{ msg: 'V' }] }, message: noReason, code: undefined },
    { body: {}, message: noReason, code: undefined },
  ])('$body', ({ body, message, code }) => {
    expect(findFailure(body)).toEqual(code === undefined ? { message } : { message, code });
  });

  test('an error of a task that has not failed is not passed on', () => {
    const body = { id: 'a', status: 'processing', error: { code: 10_001, message: 'wait' } };
    const { task, issues } = read(body);

    expect(task.error).toBeNull();
    expect(task.raw).toEqual(body);
    expect(issues).toEqual([]);
  });

  test('a reason with a success is not a failure, and older builds have the result there', () => {
    const { task } = read(record({ status: 'SUCCESS', fail_reason: url, result_url: undefined }));

    expect(task).toMatchObject({ status: 'completed', error: null, url });
  });

  test.each([
    { message: 'The content was rejected by the safety review.', code: undefined, moderated: true },
    { message: '提示词包含敏感内容', code: undefined, moderated: true },
    { message: 'Refused.', code: 'content_policy_violation', moderated: true },
    { message: 'AuditSubmitIllegal', code: 'AuditSubmitIllegal', moderated: true },
    { message: 'Post Text Risk Not Pass', code: '50412', moderated: true },
    { message: 'No GPU was free.', code: 'internal', moderated: false },
    { message: 'The audit log is full.', code: undefined, moderated: false },
    { message: noReason, code: undefined, moderated: false },
  ])('$message with code $code is moderation: $moderated', ({ message, code, moderated }) => {
    expect(readsLikeReview({ message, code })).toBe(moderated);
  });
});

describe('the URL of the result', () => {
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
    ['data as text', { data: url }],
    ['data in data as text', { code: 0, data: { data: url } }],
    ['result as text', { result: url }],
    ['outputs', { outputs: [url] }],
    ['outputs of objects', { outputs: [{ url }] }],
    ['data.outputs', { data: { outputs: [url] } }],
    ['result.outputs', { result: { outputs: [url] } }],
    ['result.outputs beside data', { data: { kind: 'video' }, result: { outputs: [url] } }],
    ['outputUrls', { outputUrls: [url] }],
    ['videoUrls', { videoUrls: [url] }],
    ['videoUrls of objects', { videoUrls: [{ url }] }],
    ['resultUrls', { resultUrls: [url] }],
    ['resultUrls as JSON text', { data: { resultUrls: JSON.stringify([url]) } }],
    ['data.response.resultUrls', { data: { response: { resultUrls: [url] } } }],
    ['resultJson', { data: { resultJson: JSON.stringify({ resultUrls: [url] }) } }],
    ['result.download_url', { result: { download_url: url } }],
    ['results', { results: [{ url }] }],
    ['data.results', { data: { results: [{ url }] } }],
    ['content in parts', { content: [{ type: 'video_url', video_url: { url } }] }],
    [
      'content in parts behind others',
      { content: [{ type: 'text', text: 'Hi' }, { video_url: { url } }] },
    ],
    ['task.content.url', { task: { content: { url } } }],
    ['task.content.url beside output', { output: { seed: 1 }, task: { content: { url } } }],
    ['result.assets', { result: { assets: [url] } }],
    ['result.assets of objects', { result: { assets: [{ id: 1, url }] } }],
    [
      'result.assets behind a cover',
      {
        result: {
          assets: [
            { type: 'image', url: 'https://cdn.example/cover' },
            { url: 'https://cdn.example/cover.jpg?w=1' },
            { type: 'video', url },
          ],
        },
      },
    ],
    ['unsigned_urls', { unsigned_urls: [url] }],
    [
      'creations',
      { state: 'success', creations: [{ id: 'c', url, cover_url: 'https://cdn.example/c.png' }] },
    ],
    ['generated_video', { generated_video: [{ video_url: url }] }],
  ];

  test.each(places)('%s of a completed task', (_, fields) => {
    expect(read({ id: 'a', status: 'completed', ...fields }).task.url).toBe(url);
  });

  test('an image of a completed task is its result', () => {
    const cover = 'https://cdn.example/cover.png';
    expect(read({ id: 'a', status: 'completed', outputs: [cover] }).task.url).toBe(cover);
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
  ])('%j is the URL %j', (value, expected) => {
    expect(toResultURL(value)).toBe(expected);
  });
});

describe('a result of a task with an unknown status', () => {
  test.each<[string, JsonObject]>([
    ['a reference video in the content', { content: [{ video_url: { url } }] }],
    ['a reference video in a list of parts', { content: [{ video_url: url }] }],
    ['only a cover', { outputs: ['https://cdn.example/cover.png'] }],
    ['only the URL of a preview', { url: 'https://cdn.example/preview.webp' }],
    ['only assets that are images', { result: { assets: [{ type: 'image', url }] } }],
    ['an empty list', { outputs: [], unsigned_urls: [] }],
    ['a sentence', { data: 'The video is being made.' }],
  ])('%s does not complete it', (_, fields) => {
    for (const status of ['baking', undefined, 1]) {
      const { task } = read({ id: 'a', status, ...fields });
      expect(task.status).toBe('queued');
      expect(task).not.toHaveProperty('url');
    }
  });
});

describe('states that are numbers', () => {
  const done = { status: 'completed', inferred: true, error: null };

  test.each<{ name: string; body: JsonObject; expected: JsonObject }>([
    {
      name: '2 with a result',
      body: { status: 2, generated_video: [{ video_url: url }] },
      expected: { ...done, url },
    },
    {
      name: '2 with a result in parts',
      body: { status: 2, content: [{ video_url: { url } }] },
      expected: { ...done, url },
    },
    { name: '2 as text', body: { state: '2', outputUrls: [url] }, expected: { ...done, url } },
    {
      name: '2 inside data',
      body: { code: 200, data: { status: 2, videoUrls: [url] } },
      expected: { ...done, url },
    },
    {
      name: '2 behind a word',
      body: { status: 'success', data: { status: 2, outputUrls: [url] } },
      expected: { status: 'completed', url },
    },
    {
      name: '3 with a result: done, in the dialect where 2 is running',
      body: { status: 3, video_url: url },
      expected: { ...done, url },
    },
    {
      name: '3 with a reason',
      body: { status: 3, error_code: 'E7', error_message: 'No' },
      expected: { status: 'failed', inferred: true, error: { message: 'No', code: 'E7' } },
    },
    {
      name: '3 with a reason, inside data',
      body: { code: 0, data: { task_status: 3, failedReason: 'No' } },
      expected: { status: 'failed', error: { message: 'No' } },
    },
    {
      name: '3 as text',
      body: { status: '3', failedReason: 'No' },
      expected: { status: 'failed' },
    },
  ])('$name', ({ body, expected }) => {
    expect(read({ id: 'a', ...body }).task).toMatchObject(expected);
  });

  test.each<[string, JsonObject]>([
    ['2 alone', { status: 2 }],
    ['2 with a reason', { status: 2, error_message: 'A worker is slow.' }],
    ['3 alone', { status: 3 }],
    ['3 with empty reasons', { status: 3, error_code: '', error_message: '', message: 'success' }],
    ['3 with a word that is not a reason', { status: 3, message: 'reviewing', reason: 'step 3' }],
    ['1 with a reason', { status: 1, failedReason: 'none' }],
    ['8 with a reason', { status: 8, failedReason: 'No' }],
    ['an HTTP status', { status: 200, error_message: '' }],
    ['-1', { status: -1, failedReason: 'No' }],
  ])('%s is still pending', (_, body) => {
    const { task } = read({ id: 'a', ...body });
    expect(task.status).toBe('queued');
    expect(task).not.toHaveProperty('inferred');
  });

  test('states from 0 to 3 are not drift', () => {
    const drifts = [0, 1, 2, 3, 4, -1, 200].filter(
      (status) => read({ id: 'a', status }).issues.length > 0,
    );
    expect(drifts).toEqual([4, -1, 200]);
  });

  test('a text status takes precedence over a number', () => {
    const body = { status: 3, failedReason: 'No', data: { status: 'processing' } };
    expect(read(body).task.status).toBe('in_progress');
  });
});

/** A body inside of others. */
const wrap = (body: JsonObject, wrappers: readonly string[]): JsonObject =>
  wrappers.reduce<JsonObject>((inner, name) => ({ [name]: inner }), body);

describe('property: the end of a task', () => {
  const word = fc.constantFrom('baking', '待机中', 'unknown', '', null, undefined, 'step_2', 'NaN');
  const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 1, 2, 3, 4, 5));
  const wrappers = fc.array(fc.constantFrom('data', 'output', 'result', 'task', 'response'), {
    maxLength: 3,
  });
  /** JSON without URLs and without words of a status. */
  const noise = fc.dictionary(
    fc.constantFrom('progress', 'seed', 'message', 'reason', 'detail', 'step', 'outputs', 'data'),
    fc.oneof(fc.integer(), fc.boolean(), fc.constantFrom('', 'no URL', [], {}, null)),
  );

  test('an unknown status ends no task without a result or a reason', () => {
    fc.assert(
      fc.property(fc.oneof(word, number), noise, wrappers, (status, more, around) => {
        const { task } = read({ id: 'a', ...wrap({ ...more, status }, around) });
        expect(task.status).toMatch(/^(queued|in_progress)$/);
        expect(task.error).toBeNull();
      }),
    );
  });

  test('only the number 3 fails a task, and only for a reason', () => {
    fc.assert(
      fc.property(number, fc.constantFrom('', 'No'), wrappers, (status, reason, around) => {
        const { task } = read({ id: 'a', ...wrap({ status, failedReason: reason }, around) });
        expect(task.status === 'failed').toBe(status === 3 && reason !== '');
      }),
    );
  });

  test('a completed task has the URL of its list, wherever the list is', () => {
    const list = fc.constantFrom(
      'outputs',
      'outputUrls',
      'videoUrls',
      'resultUrls',
      'unsigned_urls',
      'results',
      'creations',
    );
    const item = fc.constantFrom<unknown>(url, { url });
    const before = fc.array(
      fc.constantFrom<unknown>(null, '', 'No', { type: 'image', url: 'https://c.test/a' }, 7),
    );
    fc.assert(
      fc.property(
        list,
        item,
        before,
        wrappers,
        fc.constantFrom('done', 2),
        (name, one, others, around, status) => {
          const { task } = read({ id: 'a', status, ...wrap({ [name]: [...others, one] }, around) });
          expect(task).toMatchObject({ status: 'completed', url });
        },
      ),
    );
  });

  test('the end of a task is read from any JSON without an error, with the same result each time', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        expect(read(body).task).toEqual(read(body).task);
      }),
    );
  });
});

describe('progress', () => {
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
    expect(readProgress(value)).toBe(expected);
  });

  test("reads progress of the gateway's record", () => {
    expect(read(record({ status: 'IN_PROGRESS', progress: '30%' })).task.progress).toBe(30);
  });
});

describe('times', () => {
  test.each([
    [1_790_000_123, 1_790_000_123],
    [1_790_000_123_456, 1_790_000_123],
    ['1790000123', 1_790_000_123],
    [0, undefined],
    ['', undefined],
    [null, undefined],
    ['yesterday', undefined],
  ])('%j is %j seconds', (value, expected) => {
    expect(toTimestamp(value)).toBe(expected);
  });

  test('completed_at does not mean that the task has completed', () => {
    const { task } = read({ id: 'a', status: 'queued', completed_at: 1_790_000_123 });

    expect(task).toMatchObject({ status: 'queued', completed_at: 1_790_000_123 });
  });

  test("reads the names of the gateway's record", () => {
    const { task } = read(record({ submit_time: 1_790_000_100, finish_time: 1_790_000_200 }));

    expect(task).toMatchObject({ created_at: 1_790_000_100, completed_at: 1_790_000_200 });
  });
});

describe('reading a video body', () => {
  test('known variants are not drift, and every received field is kept', () => {
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

  test('property: any object becomes a task in one of four states, with its unchanged body', () => {
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
        // A completed task may have an error beside its result.
        if (task.url === undefined) expect(task.error === null).toBe(task.status !== 'failed');
        expect(task.error?.message).not.toBe('');
      }),
      { numRuns: 1_000 },
    );
  });
});
