import type { JSX } from 'preact';
import type { CallView } from '../../protocol.ts';
import { draft, field } from '../draft.ts';
import { TextField } from '../fields.tsx';
import { count } from '../format.ts';
import type { Preset } from '../setup/settings.ts';
import { hello } from '../state.ts';
import { CallPanel } from './call-panel.tsx';
import { Result } from './results.tsx';

const initial = {
  texts: [
    'How do I reset my password?',
    'I forgot my password and cannot log in',
    'Where is my order?',
    'My order has not arrived yet',
    'Do you ship to Norway?',
  ].join('\n'),
};
const form = draft('embeddings-form', initial);

const presets: readonly Preset[] = [
  { name: 'Support questions', settings: {} },
  {
    name: 'Headlines',
    settings: {
      texts: [
        'Central bank raises interest rates again',
        'Interest rates rise for the third time',
        'Storm closes the coastal railway',
        'Railway line reopens after the storm',
        'Local team wins the cup final',
      ].join('\n'),
    },
  },
];

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

/** Returns the pairs of different texts, most similar first. */
function sortPairs(
  rows: readonly (readonly number[])[],
): { a: number; b: number; value: number }[] {
  return rows
    .flatMap((row, a) => row.slice(a + 1).map((value, index) => ({ a, b: a + 1 + index, value })))
    .toSorted((first, second) => second.value - first.value);
}

function Picture({ call }: { call: CallView }): JSX.Element | null {
  const { similarity, body } = call;
  if (similarity === undefined) return null;
  const { rows, dimensions } = similarity;
  const input: readonly string[] = Array.isArray(body['input']) ? body['input'].map(String) : [];
  const shaded = shades(rows);
  const pairs = sortPairs(rows);
  const describe = ({ a, b, value }: (typeof pairs)[number]): JSX.Element => (
    <>
      “<bdi>{input[a]}</bdi>” and “<bdi>{input[b]}</bdi>”, {rounded(value)}
    </>
  );
  const [first] = pairs;
  const last = pairs.at(-1);
  return (
    <>
      {first === undefined || last === undefined ? null : (
        <p>
          <strong>Most similar:</strong> {describe(first)}.
          {pairs.length === 1 ? null : (
            <>
              {' '}
              <strong>Least similar:</strong> {describe(last)}.
            </>
          )}
        </p>
      )}
      <div class="table-wrap plain" tabIndex={0} role="group" aria-label="Similarity of the texts">
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
                  <span class="faint">{index + 1}</span> <bdi>{input[index]}</bdi>
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
        {dimensions} dimensions. Cosine similarity: 1 means the same direction.
        {hello.value?.isEmulator === true
          ? ' The emulator compares words, a real model compares meaning.'
          : ''}
      </p>
    </>
  );
}

/** Embeds texts and shows their similarity. */
export function Embeddings(): JSX.Element {
  const input = splitLines(form.value.texts);
  return (
    <CallPanel
      kind="embeddings"
      title="Embeddings"
      about="Embeds texts, and shows how similar a model finds them."
      form={form}
      initial={initial}
      presets={presets}
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
          {...field(form, 'texts')}
          onSend={send}
        />
      )}
      empty={['No comparison yet', 'Write one text per line. Darker means more similar.']}
    >
      {(call) => (
        <Result
          key={call.id}
          call={call}
          title={count(Array.isArray(call.body['input']) ? call.body['input'].length : 0, 'text')}
        >
          <Picture call={call} />
        </Result>
      )}
    </CallPanel>
  );
}
