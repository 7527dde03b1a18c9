import RunwayML from '@runwayml/sdk';
import { json } from '../answers.ts';
import { fetchOption, timeoutOption, type Subject, type Target } from '../subject.ts';

function connect(target: Target): RunwayML {
  return new RunwayML({
    apiKey: 'benchmark',
    baseURL: target.origin,
    ...timeoutOption(target),
    ...fetchOption(target),
  });
}

const answer = json({
  id: '497f6eca-6276-4993-bfeb-53cbbbba6f08',
  estimatedCost: { credits: 5 },
});

export const runway: readonly Subject[] = [
  {
    package: '@runwayml/sdk',
    call: 'textToImage.create',
    pays: 'job',
    run: async (target) =>
      connect(target).textToImage.create({
        model: 'gen4_image',
        promptText: 'A lighthouse',
        ratio: '1920:1080',
      }),
    answer,
  },
  {
    package: '@runwayml/sdk',
    call: 'textToVideo.create',
    pays: 'job',
    run: async (target) =>
      connect(target).textToVideo.create({
        model: 'veo3.1',
        promptText: 'A lighthouse',
        ratio: '1280:720',
        duration: 4,
      }),
    answer,
  },
];
