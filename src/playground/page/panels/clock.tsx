import type { JSX } from 'preact';
import { steerClock } from '../api.ts';
import { hello, books } from '../state.ts';

function steer(what: Parameters<typeof steerClock>[0]): void {
  // The books tell what the clock does; a server that is lost has a line of its own.
  void steerClock(what).catch(() => {});
}

/** The time on which the emulator's videos move. */
export function Clock(): JSX.Element | null {
  const { clock } = books.value ?? {};
  if (hello.value?.isEmulator !== true || clock === undefined) return null;
  return (
    <div class="clock" role="group" aria-label="The emulator’s clock">
      <span class="faint">
        Clock {clock.held ? 'held' : clock.speed === 1 ? '' : `×${clock.speed}`}
      </span>
      <button type="button" class="quiet" onClick={() => steer({ hold: !clock.held })}>
        {clock.held ? 'Release' : 'Hold'}
      </button>
      <button type="button" class="quiet" onClick={() => steer({ advance: 5_000 })}>
        +5 s
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => steer({ speed: clock.speed === 1 ? 10 : 1 })}
      >
        {clock.speed === 1 ? '×10' : '×1'}
      </button>
    </div>
  );
}
