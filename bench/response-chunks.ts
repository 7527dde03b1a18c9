import { answerFromMemory, responseEvents, streamAnswer } from './lib/answers.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';
import { turnsPart } from './lib/turns.ts';

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

export const responseChunksPart = turnsPart({
  name: 'responses',
  file: import.meta.filename,
  clients,
  rows: {
    '1400': {
      id: 'responses.1400',
      label: 'A streamed event of a response, CPU (reads of 1.4 kB)',
      unit: 'µs',
    },
  },
  async connect(connect) {
    answerFromMemory(streamAnswer(responseEvents(count), 1_400));
    const { responses } = await connect();
    const work = async (): Promise<void> => {
      let length = 0;
      for await (const { delta } of await responses.create(asked)) {
        if (typeof delta === 'string') length += delta.length;
      }
      if (length < count) throw new Error('Not the whole stream was read.');
    };
    return { '1400': () => ({ work, warmup: 12, runs: 4, scale: 1_000 / count }) };
  },
});
