import type { Transport } from '../../../src/calls/transport.ts';
import { jsonFormat } from '../../../src/calls/response.ts';
import { VideoSubmitUnknownError } from '../../../src/errors/operation-errors.ts';
import { isObject, isText } from '../../../src/answers/objects.ts';
import { checkText } from '../../../src/options/check.ts';
import type { RequestOptions } from '../../../src/options/options.ts';
import { withDefaults } from '../../../src/options/resolve.ts';
import { TaskErrors, TaskFailedError, TaskWaitError } from '../../../src/tasks/errors.ts';
import type { AnyRef, TaskKind } from '../../../src/tasks/kind.ts';
import { pollFormat } from '../../../src/tasks/poll-format.ts';
import { findFailure } from '../../../src/answers/failure.ts';
import { findProgress, findStatusWord, readStatusWord } from '../../../src/tasks/reading.ts';
import { isTaskRef } from '../../../src/tasks/ref.ts';
import { WaitScope } from '../../../src/tasks/scope.ts';
import { comparable, type LedgerOptions, submitOnce } from '../../../src/tasks/submit.ts';
import type { PolledTask } from '../../../src/tasks/types.ts';
import { followTask, stepTask, waitFor, waitForAll, watchTask } from '../../../src/tasks/wait.ts';
import type { JsonObject } from '../../../src/types.ts';

/** The handle of a task that makes a 3-D model. */
interface ModelRef extends AnyRef {
  readonly kind: 'model';
}

/** A task that makes a 3-D model. */
interface ModelTask extends PolledTask {
  url?: string | undefined;
}

class ModelFailedError extends TaskFailedError<ModelRef> {
  static override readonly kind: string = 'ModelFailedError';
}

class ModelWaitError extends TaskWaitError<ModelRef> {
  static override readonly kind: string = 'ModelWaitError';
}

const body = { fields: {} };

function read(transport: Transport, { ref }: { readonly ref: ModelRef }, options: object) {
  const spec = {
    operation: 'models3d.retrieve',
    method: 'GET',
    path: `/v1/models3d/${encodeURIComponent(ref.id)}`,
    query: undefined,
    charge: 'free',
    task: 'reads',
    accept: 'application/json',
  } as const;
  const answer = pollFormat<unknown, ModelTask>(body, (value) => {
    const raw: JsonObject = isObject(value) ? value : {};
    const word = findStatusWord(raw);
    const { status } = readStatusWord(word);
    const error = status === 'failed' ? findFailure(raw) : null;
    const url = isText(raw['url']) ? raw['url'] : undefined;
    return { status, raw_status: word, progress: findProgress(raw), error, raw, url };
  });
  return transport.raw(() => spec, answer, options);
}

/** The kind of task that makes a 3-D model. */
const modelTasks: TaskKind<ModelRef, ModelTask> = {
  parse(value) {
    if (!isTaskRef(value)) throw new TypeError('This is not a handle.');
    const { id, baseURL, createdAt, callId } = value;
    return { v: 1, kind: 'model', id, baseURL, createdAt, callId };
  },
  resolve(task, baseURL) {
    if (isTaskRef(task)) return { ref: modelTasks.parse(task), handle: task };
    const id = checkText('id', task, 'the id of a task');
    return { ref: { v: 1, kind: 'model', id, baseURL, createdAt: Date.now() } };
  },
  read,
  restate: (task, status) => {
    task.status = status;
  },
  errors: new TaskErrors({
    task: 'Model task',
    advice: () => 'Wait for it again.',
    missingAdvice: 'Check the id.',
    Wait: ModelWaitError,
    WaitTimeout: ModelWaitError,
    WaitAborted: ModelWaitError,
    Failed: ModelFailedError,
  }),
  SubmitUnknown: VideoSubmitUnknownError,
};

const hasFailed = (error: unknown): error is ModelFailedError => ModelFailedError.isInstance(error);

const scope = (transport: Transport, options: object): WaitScope<ModelRef, ModelTask> =>
  new WaitScope(modelTasks, transport, { ...withDefaults('videos.wait', {}), ...options });

/** Makes 3-D models: a kind of task in one file. */
export class Models3D {
  readonly #transport: () => Transport;

  constructor(transport: () => Transport) {
    this.#transport = transport;
  }

  async createAndWait(
    params: { readonly prompt: string },
    options: LedgerOptions & { readonly onSubmitted?: (ref: ModelRef) => unknown } = {},
  ): Promise<ModelTask> {
    const transport = this.#transport();
    const { baseURL } = transport;
    const createRef = (id: string, callId?: string): ModelRef => {
      return { v: 1, kind: 'model', id, baseURL, createdAt: Date.now(), callId };
    };
    const spec = {
      operation: 'models3d.create',
      method: 'POST',
      path: '/v1/models3d',
      query: undefined,
      charge: 'charged',
      task: 'creates',
      accept: 'application/json',
      json: params,
    } as const;
    const answer = jsonFormat<unknown, ModelRef>({ schema: body }, (value, { callId }) =>
      createRef(isObject(value) ? String(value['id']) : '', callId),
    );
    const { callId } = options;
    const submission = {
      kind: modelTasks,
      content: () => ['models3d.create', ...comparable({ ...params })],
      model: undefined,
      createRef: (id: string) => createRef(id, callId),
      send: (limits: RequestOptions) => transport.raw(() => spec, answer, { callId, ...limits }),
      refIn: ({ data }: { readonly data: ModelRef }) => data,
    };
    const submitted = await submitOnce(transport, submission, options);
    const { onSubmitted } = options;
    const waiting = scope(transport, {});
    try {
      return await followTask(waiting, submitted, { onSubmitted }, ({ task }) => task);
    } finally {
      waiting.close();
    }
  }

  async wait(task: string | ModelRef, options: object = {}): Promise<ModelTask> {
    const transport = this.#transport();
    const { task: done } = await waitFor(scope(transport, options), task);
    return done;
  }

  step(task: string | ModelRef, state?: unknown) {
    return stepTask(scope(this.#transport(), {}), task, state);
  }

  watch(task: string | ModelRef) {
    return watchTask(scope(this.#transport(), {}), task, hasFailed);
  }

  waitAll(tasks: readonly (string | ModelRef)[]) {
    return waitForAll(scope(this.#transport(), {}), () => tasks);
  }
}
