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

/** Maximum number of texts in a readable table. */
const limit = 24;

const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Maps similarities to ten shades: the diagonal is darkest, other values are scaled to their range. */
function shades(rows: readonly (readonly number[])[]): number[][] {
  const others = rows.flatMap((row, a) => row.filter((_, b) => a !== b));
  const least = Math.min(...others);
  const span = Math.max(...others) - least || 1;
  return rows.map((row, a) =>
    row.map((value, b) => (a === b ? 9 : Math.round(((value - least) / span) * 8))),
  );
}

/** Formats with two digits and without a negative zero. */
const rounded = (value: number): string => (Math.round(value * 100) / 100 + 0).toFixed(2);

/** Returns the most similar pair of different texts. */
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
          : `Most similar: ${best[0] + 1} and ${best[1] + 1}, ${best[2].toFixed(2)}.`}
      </p>
    </>
  );
}

/** Embeds texts and shows their similarity. */
export function Embeddings(): JSX.Element {
  const input = splitLines(texts.value);
  return (
    <CallPanel
      kind="embeddings"
      title="Embeddings"
      about="Embeds texts and shows how similar they are to a model."
      body={{ input }}
      isReady={input.length > 0 && input.length <= limit}
      button={`Compare ${count(input.length, 'text')}`}
      note={
        input.length > limit ? (
          <span class="warning">At most {limit} texts can be shown.</span>
        ) : null
      }
      top={(send) => (
        <TextField
          label="Texts"
          hint="one per line"
          rows={6}
          value={texts.value}
          onInput={(value) => {
            texts.value = value;
          }}
          onSend={send}
        />
      )}
      empty={['No comparison yet', 'Write one text per line. Darker means more similar.']}
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
