import { answerFromMemory, responseEvents, streamAnswer } from './lib/answers.ts';
import { childPart, timeRuns } from './lib/child.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';

/** An event of a response. Only those with text have a delta. */
interface ResponseEvent {
  readonly type: string;
  readonly delta?: unknown;
}

interface ResponsesLike {
  readonly responses: {
    create(asked: {
      model: string;
      input: string;
      stream: true;
    }): PromiseLike<AsyncIterable<ResponseEvent>>;
  };
}

const asked = { model: 'gpt', input: shared.prompt, stream: true } as const;

const clients: Readonly<Partial<Record<Column, () => Promise<ResponsesLike>>>> = {
  'model-gateway': () => shared.gateway(),
  openai: () => shared.openai(),
};

/** Enough that the call around the stream weighs little. */
const count = 4_000;

export const responseChunksPart = childPart({
  name: 'responses',
  file: import.meta.filename,
  clients,
  rounds: 5,
  rows: {
    '1400': {
      id: 'responses.1400',
      label: 'A streamed event of a response, CPU (reads of 1.4 kB)',
      unit: 'µs',
    },
  },
  async run(connect) {
    answerFromMemory(streamAnswer(responseEvents(count), 1_400));
    const { responses } = await connect();
    const read = async (): Promise<void> => {
      let length = 0;
      for await (const { delta } of await responses.create(asked)) {
        if (typeof delta === 'string') length += delta.length;
      }
      if (length < count) throw new Error('Not the whole stream was read.');
    };
    await timeRuns(read, 20);
    return { '1400': (await timeRuns(read, 5)) / count };
  },
});
