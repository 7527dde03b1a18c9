import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { BooksRead } from '../../protocol.ts';
import { askBooks } from '../api.ts';
import { newest } from '../state.ts';
import { clockTime, kindNames } from '../format.ts';
import { ProblemBox, OrderProblem, StatusPill, Empty } from '../parts.tsx';

/** What the gateway's own books say of the calls, once they were read. */
const read = signal<BooksRead | undefined>(undefined);

/** What became of each call on a real gateway. */
export function RealLedger(): JSX.Element {
  const [error, setError] = useState<unknown>();
  const list = newest.value;
  const { lines = {}, problem } = read.value ?? {};
  const readBooks = async (): Promise<void> => {
    setError(undefined);
    try {
      read.value = await askBooks();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <p class="card">
        A real gateway cannot be told to fail: for the faults start{' '}
        <code>npx model-gateway playground --emulator</code>. Whether a call may have been charged
        is its outcome; what it was charged stands in the gateway’s books, if it opens them to the
        key.
      </p>
      {list.length === 0 ? (
        <Empty title="No calls yet">Make one in another panel.</Empty>
      ) : (
        <>
          <div class="row tight">
            <button type="button" onClick={() => void readBooks()}>
              Read the gateway’s books <span class="faint">free</span>
            </button>
            {read.value === undefined ? null : (
              <span class="small faint">
                They lag behind by seconds, and some gateways let them be read 20 times in 20
                minutes.
              </span>
            )}
          </div>
          <OrderProblem error={error} />
          {problem === undefined ? null : <ProblemBox problem={problem} />}
          <div class="table-wrap" tabIndex={0} role="region" aria-label="Calls and outcomes">
            <table>
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Call</th>
                  <th>Model</th>
                  <th>Outcome</th>
                  <th class="number">In the books</th>
                </tr>
              </thead>
              <tbody>
                {list.map((call) => (
                  <tr key={call.id}>
                    <td>{clockTime(call.startedAt)}</td>
                    <td>{kindNames[call.kind]}</td>
                    <td>{call.model}</td>
                    <td>
                      <StatusPill call={call} />
                    </td>
                    <td class="number">
                      {lines[call.requestId ?? call.problem?.requestId ?? ''] ?? '–'}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}
