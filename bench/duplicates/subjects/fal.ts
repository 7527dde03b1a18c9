import { createFalClient, type FalClient } from '@fal-ai/client';
import { events, json } from '../answers.ts';
import { abortSignalOption, fetchOption, readAll, type Subject, type Target } from '../subject.ts';

/** The hosts of this client are fixed; its own option for a proxy leads it here. */
function connect(target: Target): FalClient {
  return createFalClient({
    credentials: 'benchmark',
    proxyUrl: { url: `${target.origin}/proxy`, when: 'always' },
    ...fetchOption(target),
  });
}

const endpoint = 'maker/image-model';
const input = { prompt: 'A lighthouse' };
const images = { images: [{ url: 'https://example.com/1.png', content_type: 'image/png' }] };

async function stream(target: Target): Promise<void> {
  const answer = await connect(target).stream(endpoint, { input });
  await Promise.all([readAll(answer), answer.done()]);
}

export const fal: readonly Subject[] = [
  {
    package: '@fal-ai/client',
    call: 'run',
    pays: 'job',
    run: (target) => connect(target).run(endpoint, { input, ...abortSignalOption(target) }),
    answer: json(images),
    stream: {
      run: stream,
      answer: events({ data: images }, { data: images }, { data: images }, { data: images }),
    },
  },
  {
    package: '@fal-ai/client',
    call: 'queue.submit',
    pays: 'job',
    run: (target) =>
      connect(target).queue.submit(endpoint, { input, ...abortSignalOption(target) }),
    answer: json({ request_id: 'request_1', status: 'IN_QUEUE', queue_position: 0 }),
  },
];
