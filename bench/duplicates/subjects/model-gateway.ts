import { Gateway, type GatewayName } from '../../lib/model-gateway.ts';
import {
  chat,
  chatEvents,
  events,
  imageEvents,
  images,
  json,
  video,
  type Answer,
} from '../answers.ts';
import { fetchOption, readAll, timeoutOption, type Subject, type Target } from '../subject.ts';

/** Options that differ between columns. */
interface Options {
  readonly gateway?: GatewayName;
  readonly retryUnknownOutcome?: boolean;
  readonly fallback?: readonly string[];
}

/** A client on its default options. */
export function connect(target: Target, options: Options = {}): Gateway {
  return new Gateway({
    apiKey: 'benchmark',
    baseURL: target.origin,
    ...timeoutOption(target),
    ...fetchOption(target),
    ...options,
  });
}

const name = 'model-gateway';

const prompt = 'A lighthouse';

const image = { model: 'image-model', prompt };
const file = new File([new Uint8Array(64)], 'lighthouse.png', { type: 'image/png' });

/** A subject without the column that it is in. */
type Call = Omit<Subject, 'package' | 'pays'>;

/** A charged call of a client. */
export interface Job {
  readonly call: string;
  readonly run: (client: Gateway) => Promise<unknown>;
  readonly answer: Answer;
  readonly stream?: Pick<Job, 'run' | 'answer'>;
}

/** OpenRouter needs the model of a remix, which a task has and an id does not. */
const videoModel = { extraBody: { model: 'video-model' } };

/** The calls that are charged by the job. */
export const jobs: readonly Job[] = [
  {
    call: 'images.generate',
    run: (client) => client.images.generate(image),
    answer: images,
    stream: {
      run: async (client) => readAll(await client.images.generate({ ...image, stream: true })),
      answer: imageEvents('image_generation'),
    },
  },
  {
    call: 'images.edit',
    run: (client) => client.images.edit({ ...image, image: file }),
    answer: images,
    stream: {
      run: async (client) =>
        readAll(await client.images.edit({ ...image, image: file, stream: true })),
      answer: imageEvents('image_edit'),
    },
  },
  {
    call: 'videos.create',
    run: (client) => client.videos.create({ model: 'video-model', prompt }),
    answer: video,
  },
  {
    call: 'videos.remix',
    run: (client) => client.videos.remix('video_0', { prompt }, videoModel),
    answer: video,
  },
];

/** A job as a subject: with a client of its own. */
function createSubject({ call, run, answer, stream }: Job, options: Options): Call {
  const bound = (part: Pick<Job, 'run' | 'answer'>): Pick<Subject, 'run' | 'answer'> => ({
    run: (target) => part.run(connect(target, options)),
    answer: part.answer,
  });
  const streamed = stream === undefined ? {} : { stream: bound(stream) };
  return { call, ...bound({ run, answer }), ...streamed };
}

const model = 'text-model';
const messages = [{ role: 'user', content: 'Why does light bend?' } as const];
const contents = [{ role: 'user', parts: [{ text: 'Why does light bend?' }] }];

function candidate(text: string, finishReason?: string): object {
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
  };
}

const embeddings = json({
  object: 'list',
  model,
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2, 0.3] }],
  usage: { prompt_tokens: 3, total_tokens: 3 },
});

/** The metered calls, with a client on its default options or on the strict rule. */
function metered(options: Options): Call[] {
  const client = (target: Target): Gateway => connect(target, options);
  return [
    {
      call: 'chat.completions.create',
      run: (target) => client(target).chat.completions.create({ model, messages }),
      answer: chat,
      stream: {
        run: async (target) =>
          readAll(await client(target).chat.completions.create({ model, messages, stream: true })),
        answer: chatEvents,
      },
    },
    {
      call: 'generate.content',
      run: (target) => client(target).generate.content({ model, contents }),
      answer: json(candidate('Light takes the path of least time.', 'STOP')),
      stream: {
        run: async (target) =>
          readAll(await client(target).generate.contentStream({ model, contents })),
        answer: events(
          ...['Light', ' takes', ' the', ' path', ' of'].map((text) => ({ data: candidate(text) })),
          { data: candidate(' least time.', 'STOP') },
        ),
      },
    },
    {
      call: 'embeddings.create',
      run: (target) => client(target).embeddings.create({ model, input: 'light' }),
      answer: embeddings,
    },
    {
      call: 'embeddings.createForEngine',
      run: (target) => client(target).embeddings.createForEngine({ model, input: 'light' }),
      answer: embeddings,
    },
    {
      call: 'audio.speech.create',
      run: async (target) => {
        const speech = await client(target).audio.speech.create({
          model,
          input: 'Light takes the path of least time.',
          voice: 'alloy',
        });
        return speech.arrayBuffer();
      },
      answer: { contentType: 'audio/mpeg', body: new Uint8Array(4096).fill(0xff) },
    },
    {
      call: 'audio.translations.create',
      run: (target) =>
        client(target).audio.translations.create({
          model,
          file: new File([new Uint8Array(64)], 'speech.mp3', { type: 'audio/mpeg' }),
        }),
      answer: json({ text: 'Light takes the path of least time.' }),
    },
  ];
}

/** Returns whether a call can ask another model. */
const hasFallback = ({ call }: Pick<Subject, 'call'>): boolean =>
  call !== 'videos.remix' && !call.startsWith('embeddings.');

/** Calls that a gateway does not serve, so that nothing is sent. */
const unserved: Readonly<Partial<Record<GatewayName, readonly string[]>>> = {
  openrouter: ['generate.content', 'embeddings.createForEngine', 'audio.translations.create'],
  litellm: ['audio.translations.create'],
};

/** The calls of this client at one kind of gateway. */
export function modelGateway(gateway: GatewayName): Subject[] {
  const own = { package: name, gateway } as const;
  const strict = { gateway, retryUnknownOutcome: false };
  const fallback = ['second-model', 'third-model'];
  const subjects: readonly Subject[] = [
    ...jobs.map((job) => ({ ...createSubject(job, { gateway }), ...own, pays: 'job' as const })),
    ...jobs.filter(hasFallback).map((job) => ({
      ...createSubject(job, { gateway, fallback }),
      ...own,
      pays: 'job' as const,
      options: 'fallback: […]',
    })),
    ...metered({ gateway }).map((call) => ({ ...call, ...own, pays: 'metered' as const })),
    ...metered(strict).map((call) => ({
      ...call,
      ...own,
      pays: 'metered' as const,
      options: 'retryUnknownOutcome: false',
    })),
    ...metered({ ...strict, fallback })
      .filter(hasFallback)
      .map((call) => ({
        ...call,
        ...own,
        pays: 'metered' as const,
        options: 'retryUnknownOutcome: false, fallback: […]',
      })),
  ];
  return subjects.filter(({ call }) => unserved[gateway]?.includes(call) !== true);
}
