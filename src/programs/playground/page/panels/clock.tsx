import type { JSX } from 'preact';
import { setClock } from '../api.ts';
import { account, hello } from '../state.ts';

function changeClock(change: Parameters<typeof setClock>[0]): void {
  // The new state arrives as an event; a lost server is shown in the banner.
  void setClock(change).catch(() => {});
}

/** Controls the clock that the emulator's videos depend on. */
export function Clock(): JSX.Element | null {
  const { clock } = account.value ?? {};
  if (hello.value?.isEmulator !== true || clock === undefined) return null;
  return (
    <div
      class="clock"
      role="group"
      aria-label="The emulator’s clock"
      title="Videos of the emulator take seconds of its own clock, which you can pause and advance."
    >
      <span class="faint">
        The emulator’s videos follow this clock
        {clock.held ? ' (paused)' : clock.speed === 1 ? '' : ` (${clock.speed}×)`}
      </span>
      <button type="button" class="quiet" onClick={() => changeClock({ hold: !clock.held })}>
        {clock.held ? 'Continue' : 'Pause'}
      </button>
      <button type="button" class="quiet" onClick={() => changeClock({ advance: 5_000 })}>
        Skip 5 s
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => changeClock({ speed: clock.speed === 1 ? 10 : 1 })}
      >
        {clock.speed === 1 ? '10× faster' : 'Normal speed'}
      </button>
    </div>
  );
}
