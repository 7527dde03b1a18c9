import Replicate from 'replicate';
import { json } from '../answers.ts';
import { fetchOption, signalOption, type Subject, type Target } from '../subject.ts';

function connect(target: Target): Replicate {
  return new Replicate({
    auth: 'benchmark',
    baseUrl: `${target.origin}/v1`,
    ...fetchOption(target),
  });
}

const input = { prompt: 'A lighthouse' };
const prediction = {
  id: 'prediction_1',
  model: 'maker/image-model',
  version: 'hidden',
  input,
  output: ['https://example.com/1.png'],
  error: null,
  status: 'succeeded',
  created_at: '2026-01-01T00:00:00.000Z',
  urls: {},
};

export const replicate: readonly Subject[] = [
  {
    package: 'replicate',
    call: 'run',
    pays: 'job',
    // The signal of this call ends the wait for a result, never a request.
    takesTimeout: false,
    run: (target) => connect(target).run('maker/image-model', { input }),
    answer: json(prediction),
  },
  {
    package: 'replicate',
    call: 'predictions.create',
    pays: 'job',
    run: (target) =>
      connect(target).predictions.create({
        model: 'maker/image-model',
        input,
        ...signalOption(target),
      }),
    answer: json({ ...prediction, output: null, status: 'starting' }),
  },
];
