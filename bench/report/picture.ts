import type { Metric } from '../lib/metric.ts';
import type { Environment } from '../lib/results.ts';
import { gridPicture, type GridCell } from '../lib/svg-grid.ts';
import { figure } from './format.ts';
import { usedColumns } from './text.ts';

/** Rows of the picture; the table has more. */
const sections = [
  {
    heading: 'What a user downloads and waits for',
    rows: ['bundle', 'import', 'install.size', 'types.memory'],
  },
  {
    heading: 'What a server pays for each call',
    rows: ['calls', 'chunks.170', 'chunks.1400', 'chunks.65536', 'embeddings', 'streams.1000'],
  },
  { heading: 'What a large file takes, in memory', rows: ['upload.file', 'upload.stream'] },
];

const notes: Readonly<Record<string, readonly string[]>> = {
  floor: ['by hand'],
  ai: ['+ openai-compatible'],
};

/** The figures as a picture. */
export function figuresPicture(metrics: readonly Metric[], environment: Environment): string {
  const byId = new Map(metrics.map((metric) => [metric.id, metric]));
  const columns = usedColumns(metrics).filter((column) => column !== 'ky');
  return gridPicture({
    title: 'Size and speed',
    subtitle:
      'Less is better everywhere. Medians of rounds in which the clients take turns, each in a process of its own; time is CPU time. ' +
      'Green is at most 1.5 times the least of the clients in a row, red more than 4 times.',
    columns: columns.map((column) => ({
      heading: column,
      notes: [environment.packages[column] ?? '', ...(notes[column] ?? [])].filter(Boolean),
      own: column === 'model-gateway',
    })),
    sections: sections.map(({ heading, rows }) => ({
      heading,
      rows: rows.flatMap((id) => {
        const metric = byId.get(id);
        if (metric === undefined) return [];
        const { label, unit, values } = metric;
        const clients = columns.filter((column) => column !== 'floor');
        const least = Math.min(...clients.map((column) => values[column] ?? Infinity));
        return [
          {
            label: shortLabels[id] ?? label,
            cells: columns.map((column): GridCell | undefined => {
              const value = values[column];
              if (value === undefined) return undefined;
              const tone = column === 'floor' ? 'plain' : chooseTone(value / least);
              return { value: figure(value, unit), tone };
            }),
          },
        ];
      }),
    })),
    footnote:
      `Measured on Node ${environment.node}, ${environment.platform} (npm run bench). The floor is the least that ` +
      'does the job by hand, without checks, time limits or retries: ky and eventsource-parser as they are; fetch and JSON; a reader, a parser and JSON.',
  });
}

const shortLabels: Readonly<Record<string, string>> = {
  import: 'Cold import, over bare Node',
  'types.memory': 'Type checking hello world, memory',
  calls: 'A whole call',
  'chunks.170': 'A streamed chunk, reads of 170 B',
  'chunks.1400': 'A streamed chunk, reads of 1.4 kB',
  'chunks.65536': 'A streamed chunk, reads of 64 KiB',
  embeddings: '256 × 3,072 embeddings',
  'streams.1000': 'An open stream, memory',
  'upload.file': '512 MiB upload of a File',
  'upload.stream': '512 MiB upload of a stream',
};

function chooseTone(ratio: number): GridCell['tone'] {
  if (ratio <= 1.5) return 'good';
  return ratio <= 4 ? 'fair' : 'poor';
}
