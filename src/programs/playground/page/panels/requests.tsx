import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { send, clearCalls, removeCall } from '../api.ts';
import { clockTime, count, duration, kindNames, price, saveText } from '../format.ts';
import {
  ChargePill,
  CopyButton,
  Empty,
  FaultPill,
  Heading,
  StartProblem,
  ProblemBox,
  Stats,
  StatusPill,
} from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { hello, newest } from '../state.ts';
import { starts } from '../calls/start.tsx';
import { Steps } from '../calls/steps.tsx';
import { focusForm } from '../calls/stop.ts';
import { Prose } from '../text/prose.tsx';
import { CallCode } from './call-code.tsx';
import { FileView, SaveLink, StopButton } from './results.tsx';

/** The answer of a call: its text, its files, and its tool calls. */
function Answer({ call }: { call: CallView }): JSX.Element | null {
  const { text, files, toolCalls, similarity } = call;
  if (text === '' && files.length === 0 && toolCalls.length === 0 && similarity === undefined) {
    return null;
  }
  return (
    <section class="stack" aria-label="Answer">
      {text === '' ? null : <Prose text={text} />}
      {toolCalls.map(({ id, name, arguments: args }) => (
        <p key={id}>
          <code>
            {name}({args})
          </code>
        </p>
      ))}
      {similarity === undefined ? null : (
        <p>
          {count(similarity.rows.length, 'vector')} with {similarity.dimensions} dimensions
        </p>
      )}
      {files.map((file, index) => (
        <div key={file.name} class="row tight">
          <FileView call={call} index={index} />
          <SaveLink call={call} index={index} />
        </div>
      ))}
    </section>
  );
}

function Detail({
  call,
  onError,
}: {
  call: CallView;
  onError: (error: unknown) => void;
}): JSX.Element {
  const { attempts = [], problem, requestId } = call;
  return (
    <div class="stack detail">
      <Stats call={call} />
      <Steps call={call} />
      {problem === undefined ? null : <ProblemBox problem={problem} />}
      <Answer call={call} />
      {attempts.length === 0 ? null : (
        <ol class="attempts">
          {attempts.map(({ method, path, status, charged }, index) => (
            <li key={index}>
              <code>
                {method} {path}
              </code>{' '}
              <span class="faint">{status === undefined ? 'no answer' : `answered ${status}`}</span>{' '}
              {charged > 0 ? (
                <span class="coin">{price(charged, hello.value?.unitsPerDollar)}</span>
              ) : (
                <span class="faint">not charged</span>
              )}
            </li>
          ))}
        </ol>
      )}
      {requestId === undefined || problem?.requestId !== undefined ? null : (
        <p class="small faint">
          Request <code>{requestId}</code>
        </p>
      )}
      <CallCode call={call} />
      <div class="row tight">
        <StopButton call={call} />
        <CopyButton label="Copy result as JSON" text={() => JSON.stringify(call, undefined, 2)} />
        <button
          type="button"
          class="quiet"
          disabled={call.status === 'running'}
          onClick={() => {
            focusForm();
            void removeCall(call.id).catch(onError);
          }}
        >
          Remove
        </button>
      </div>
    </div>
  );
}

async function exportAll(): Promise<void> {
  const text = JSON.stringify(await (await send('calls')).json(), undefined, 2);
  saveText('playground-calls.json', 'application/json', text);
}

/** All calls, as code and with their results. */
export function Requests(): JSX.Element {
  const [error, setError] = useState<unknown>();
  const [isAsking, setIsAsking] = useState(false);
  const list = newest.value;
  const open = recalled('call', '');
  return (
    <>
      <Heading
        title="Requests"
        aside={
          <span class="row tight">
            <button
              type="button"
              class="quiet"
              disabled={list.length === 0}
              onClick={() => void exportAll().catch(setError)}
            >
              Export
            </button>
            {isAsking ? (
              <>
                {/* It may be where Clear was, so the second click of a double click must not delete. */}
                <button
                  type="button"
                  {...starts}
                  onClick={() => {
                    setIsAsking(false);
                    focusForm();
                    void clearCalls().catch(setError);
                  }}
                >
                  Delete all results
                </button>
                <button
                  type="button"
                  class="quiet"
                  ref={(button) => button?.focus()}
                  onClick={() => {
                    setIsAsking(false);
                    focusForm();
                  }}
                >
                  Keep
                </button>
              </>
            ) : (
              <button
                type="button"
                class="quiet"
                disabled={list.length === 0}
                onClick={() => setIsAsking(true)}
              >
                Clear
              </button>
            )}
          </span>
        }
      >
        Every call with its outcome and as code to copy. The code never contains the key.
      </Heading>
      <StartProblem error={error} />
      {list.length === 0 ? (
        <Empty title="No calls yet">Calls of the other panels are listed here.</Empty>
      ) : (
        <ul class="log">
          {list.map((call) => (
            <li key={call.id} class="card">
              <button
                type="button"
                class="log-line"
                aria-expanded={open === call.id}
                onClick={() => remember('call', open === call.id ? '' : call.id)}
              >
                <span class="faint">{clockTime(call.startedAt)}</span>
                <strong>{kindNames[call.kind]}</strong>
                <span class="log-model">{call.model}</span>
                <StatusPill call={call} />
                <FaultPill call={call} />
                <ChargePill call={call} />
                <span class="push faint">
                  {call.endedAt === undefined ? '' : duration(call.endedAt - call.startedAt)}
                </span>
              </button>
              {open === call.id ? <Detail call={call} onError={setError} /> : null}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
