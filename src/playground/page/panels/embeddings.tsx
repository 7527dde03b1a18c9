import type { JSX } from 'preact';
import type { CallView } from '../../protocol.ts';
import { draft } from '../draft.ts';
import { TextField } from '../fields.tsx';
import { count } from '../format.ts';
import { CallPanel } from './call-panel.tsx';
import { Result } from './results.tsx';

const example =
  'A boat on a lake\nA ship at sea\nThe price of bread\nWhat a loaf costs\nA lighthouse';
const texts = draft('embeddings', example);

/** The most that fit into a picture that can be read. */
const limit = 24;

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Similarity as one of ten shades: a text and itself the darkest, the others over what occurs among them. */
function shades(rows: readonly (readonly number[])[]): number[][] {
  const others = rows.flatMap((row, a) => row.filter((_, b) => a !== b));
  const least = Math.min(...others);
  const span = Math.max(...others) - least || 1;
  return rows.map((row, a) =>
    row.map((value, b) => (a === b ? 9 : Math.round(((value - least) / span) * 8))),
  );
}

/** Two digits, and no zero that is negative. */
const rounded = (value: number): string => (Math.round(value * 100) / 100 + 0).toFixed(2);

/** The pair of different texts that are most alike. */
function closest(
  rows: readonly (readonly number[])[],
): readonly [number, number, number] | undefined {
  let best: readonly [number, number, number] | undefined;
  rows.forEach((row, a) =>
    row.forEach((value, b) => {
      if (b > a && (best === undefined || value > best[2])) best = [a, b, value];
    }),
  );
  return best;
}

function Picture({ call }: { call: CallView }): JSX.Element | null {
  const { similarity, body } = call;
  if (similarity === undefined) return null;
  const { rows, dimensions } = similarity;
  const input: readonly string[] = Array.isArray(body['input']) ? body['input'].map(String) : [];
  const shaded = shades(rows);
  const best = closest(rows);
  return (
    <>
      <div class="table-wrap plain" tabIndex={0} role="region" aria-label="Similarity of the texts">
        <table class="heat">
          <thead>
            <tr>
              <td />
              {rows.map((_, index) => (
                <th key={index} scope="col" title={input[index]}>
                  {index + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                <th scope="row">
                  <span class="faint">{index + 1}</span> {input[index]}
                </th>
                {row.map((value, column) => (
                  <td
                    key={column}
                    data-shade={shaded[index]?.[column]}
                    title={`${input[index]} · ${input[column]}`}
                  >
                    {rounded(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="small faint">
        {dimensions} dimensions. Cosine similarity: 1 means the same direction.{' '}
        {best === undefined
          ? ''
          : `Most alike: ${best[0] + 1} and ${best[1] + 1}, ${best[2].toFixed(2)}.`}
      </p>
    </>
  );
}

/** Texts as vectors, and how alike they are. */
export function Embeddings(): JSX.Element {
  const input = linesOf(texts.value);
  return (
    <CallPanel
      kind="embeddings"
      title="Embeddings"
      about="Some texts, and a picture of how alike they are to a model."
      body={{ input }}
      isReady={input.length > 0 && input.length <= limit}
      button={`Compare ${count(input.length, 'text')}`}
      note={
        input.length > limit ? (
          <span class="warning">At most {limit} fit into the picture.</span>
        ) : null
      }
      top={(send) => (
        <TextField
          label="Texts"
          hint="one in each line"
          rows={6}
          value={texts.value}
          onInput={(value) => {
            texts.value = value;
          }}
          onSend={send}
        />
      )}
      empty={['Nothing compared yet', 'Write a text in each line. The darker, the more alike.']}
    >
      {(call) => (
        <Result
          key={call.id}
          call={call}
          title={`${Array.isArray(call.body['input']) ? call.body['input'].length : 0} texts`}
        >
          <Picture call={call} />
        </Result>
      )}
    </CallPanel>
  );
}
