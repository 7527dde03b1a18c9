import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { starts } from '../calls/start.tsx';
import { duration } from '../format.ts';

/** Formats that gateways accept, best first. */
const types: readonly (readonly [type: string, extension: string])[] = [
  ['audio/webm;codecs=opus', 'webm'],
  ['audio/mp4', 'm4a'],
  ['audio/ogg;codecs=opus', 'ogg'],
];

function explain(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') {
    return 'The browser blocks the microphone. Allow it in the address bar, or choose a file.';
  }
  if (name === 'NotFoundError') return 'No microphone was found. Connect one, or choose a file.';
  return `The microphone cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}

/** Records from the microphone. */
export function Recorder({ onFile }: { onFile: (file: File) => void }): JSX.Element {
  const recorder = useRef<MediaRecorder>(undefined);
  const isOpening = useRef(false);
  const [startedAt, setStartedAt] = useState<number | undefined>();
  const [now, setNow] = useState(0);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    if (startedAt === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [startedAt]);
  useEffect(
    () => () => {
      for (const track of recorder.current?.stream.getTracks() ?? []) track.stop();
    },
    [],
  );
  const start = async (): Promise<void> => {
    // A second click while the microphone is being opened would open it twice.
    if (isOpening.current) return;
    isOpening.current = true;
    setProblem('');
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const [type, extension] = types.find(([name]) => MediaRecorder.isTypeSupported(name)) ?? [
        '',
        'webm',
      ];
      const made = new MediaRecorder(stream, type === '' ? {} : { mimeType: type });
      const pieces: Blob[] = [];
      made.addEventListener('dataavailable', ({ data }) => pieces.push(data));
      made.addEventListener('stop', () => {
        for (const track of stream.getTracks()) track.stop();
        setStartedAt(undefined);
        const [plain = ''] = type.split(';');
        onFile(new File(pieces, `recording.${extension}`, { type: plain }));
      });
      recorder.current = made;
      made.start();
      setNow(Date.now());
      setStartedAt(Date.now());
    } catch (error) {
      setProblem(explain(error));
    } finally {
      isOpening.current = false;
    }
  };
  return (
    <div class="field">
      <span class="label">Or speak</span>
      <div class="row tight">
        {/* One button, which keeps the focus. The second click of a double click does not stop it. */}
        <button
          type="button"
          class={startedAt === undefined ? '' : 'recording'}
          {...starts}
          onClick={() => (startedAt === undefined ? void start() : recorder.current?.stop())}
        >
          {startedAt === undefined ? 'Record' : `Stop after ${duration(now - startedAt)}`}
        </button>
      </div>
      {problem === '' ? null : (
        <p class="warning" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
