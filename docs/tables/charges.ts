/** The charges of a call by failure, as `npm run duplicates` of `bench` has counted them. */
import measured from '../../bench/results/duplicates.json' with { type: 'json' };
import { toTable } from './section.ts';

/** Failures in which the gateway did the work. */
type Pays = 'job' | 'metered';

/** Returns the number of charges that every call of a kind had; throws if they differ. */
function countCharges(pays: Pays, options: string, fault: string): number | string {
  const counts = measured.calls
    .filter((call) => call.package === 'model-gateway' && call.pays === pays)
    .filter((call) => call.options === options)
    .flatMap(({ faults }) => {
      const found = Object.entries(faults).find(([id]) => id === fault);
      return found === undefined ? [] : [found[1].charges];
    });
  const [first, ...others] = new Set(counts);
  if (first === undefined) return '–';
  if (others.length > 0) throw new Error(`${fault} has different charges: ${counts.join(', ')}.`);
  return first;
}

const outcomes: Readonly<Record<string, string>> = { answered: '–' };

export function chargesTable(): string {
  const rows = measured.faults.map(({ id, label, verdict }) => [
    label,
    countCharges('job', 'defaults', id),
    countCharges('metered', 'defaults', id),
    countCharges('metered', 'retryUnknownOutcome: false', id),
    outcomes[verdict] ?? `\`${verdict}\``,
  ]);
  const headings = [
    'What happens',
    'Image, video',
    'Chat, generation, embeddings, audio',
    '… with `retryUnknownOutcome: false`',
    '`outcome` of the error',
  ];
  return toTable(headings, rows);
}
