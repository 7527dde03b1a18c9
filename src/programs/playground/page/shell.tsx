import type { JSX } from 'preact';
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import {
  account,
  connection,
  connectionProblem,
  hello,
  loadModels,
  modelsProblem,
} from './state.ts';
import { count, price } from './format.ts';
import { panelAddress, panels, route, type Panel } from './route.ts';
import { Announcements } from './calls/announcements.tsx';
import { Icon, ProblemBox } from './parts.tsx';
import { Charges } from './panels/charges.tsx';
import { Chat } from './panels/chat/chat.tsx';
import { Images } from './panels/images.tsx';
import { Speech, Transcription, Translation } from './panels/audio.tsx';
import { Embeddings } from './panels/embeddings.tsx';
import { Video } from './panels/video.tsx';
import { Requests } from './panels/requests.tsx';

const menu: Readonly<Record<Panel, { label: string; icon: string; show: () => JSX.Element }>> = {
  charges: { label: 'Charges', icon: 'M5 4h14v16H5zM9 9h6M9 13h6M9 17h3', show: Charges },
  chat: { label: 'Chat', icon: 'M4 5h16v11H9l-5 4z', show: Chat },
  images: { label: 'Images', icon: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01', show: Images },
  speech: { label: 'Speech', icon: 'M5 10v4M9 7v10M13 4v16M17 8v8M21 11v2', show: Speech },
  transcription: {
    label: 'Transcription',
    icon: 'M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3',
    show: Transcription,
  },
  translation: {
    label: 'Translation',
    icon: 'M4 6h10M9 4v2M6 6c1 5 4 7 7 8M12 6c-1 5-4 7-7 8M12 20l4-9 4 9M13.5 17h5',
    show: Translation,
  },
  embeddings: {
    label: 'Embeddings',
    icon: 'M4 4h5v5H4zM15 4h5v5h-5zM4 15h5v5H4zM15 15h5v5h-5z',
    show: Embeddings,
  },
  video: { label: 'Video', icon: 'M3 6h13v12H3zM16 10l5-3v10l-5-3', show: Video },
  requests: { label: 'Requests', icon: 'M4 6h16M4 12h16M4 18h10', show: Requests },
};

type Theme = 'system' | 'light' | 'dark';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

const stored = localStorage.getItem('playground-theme');
const theme = signal<Theme>(themes.find((name) => name === stored) ?? 'system');

function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem('playground-theme', theme.value);
}
applyTheme();

function ThemeButton(): JSX.Element {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  return (
    <button
      type="button"
      class="quiet theme"
      onClick={() => {
        theme.value = next;
        applyTheme();
      }}
    >
      <Icon path="M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z" />
      <span>Theme: {theme.value}</span>
    </button>
  );
}

function Account(): JSX.Element | null {
  const { isEmulator = true, baseURL = '', unitsPerDollar } = hello.value ?? {};
  if (hello.value === undefined) return <div class="account" />;
  if (!isEmulator) {
    return (
      <div class="account real">
        <p class="account-name">Real gateway: calls are charged</p>
        <p class="account-host">{new URL(baseURL).host}</p>
      </div>
    );
  }
  const { charges = 0, amount = 0 } = account.value ?? {};
  return (
    <div class="account">
      <p class="account-name">Emulator: nothing costs money</p>
      <p class="account-host">
        {count(charges, 'charge')} · {price(amount, unitsPerDollar)}
      </p>
    </div>
  );
}

function Menu(): JSX.Element {
  const current = route.value.panel;
  const list = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // On a phone the menu is one row, which scrolls.
    const link = list.current?.querySelector('[aria-current]');
    link?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav aria-label="Panels" ref={list}>
      <ul>
        {panels.map((panel) => (
          <li key={panel}>
            <a href={panelAddress(panel)} aria-current={panel === current ? 'page' : undefined}>
              <Icon path={menu[panel].icon} />
              {menu[panel].label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Banner(): JSX.Element | null {
  // After a restart the token is new; the old results stay visible.
  if (connection.value === 'refused') {
    return (
      <div class="banner" role="alert">
        <strong>The playground was restarted.</strong> This page stays as it is. Open the new
        address shown in the terminal to continue.
      </div>
    );
  }
  if (connection.value === 'lost') {
    return (
      <div class="banner" role="alert">
        <strong>The playground does not respond.</strong> This page stays as it is and reconnects
        automatically. If the playground was stopped, restart it with{' '}
        <code>npx model-gateway playground</code> and open the address that it prints.
      </div>
    );
  }
  const problem = modelsProblem.value;
  if (problem === undefined) return null;
  return (
    <div class="banner-problem">
      <ProblemBox problem={problem} isAlert />
      <p class="small">
        The address and the key were set in the terminal. If they are wrong, stop the playground,
        set <code>GATEWAY_BASE_URL</code> and <code>GATEWAY_API_KEY</code>, and restart it.
      </p>
      <button type="button" onClick={() => void loadModels().catch(() => {})}>
        Try again
      </button>
    </div>
  );
}

/** The page. */
export function Shell(): JSX.Element {
  const { panel } = route.value;
  const { label, show: Shown } = menu[panel];
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    document.title = `${label} · model-gateway playground`;
    // Move the keyboard focus to the heading of a new panel, but not on the first load.
    if (!isFirst.current) {
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    isFirst.current = false;
  }, [panel]);
  if (connection.value === 'refused' && hello.value === undefined) {
    return (
      <main class="alone">
        <h1>Open the address from the terminal</h1>
        <p>{connectionProblem.value}</p>
        <p>
          It looks like <code>http://127.0.0.1:4020/#token=…</code> and changes at each start, so
          that other pages cannot use your key.
        </p>
      </main>
    );
  }
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('main h1')?.focus();
        }}
      >
        Skip to the panel
      </a>
      <aside class="side">
        <p class="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M9 21V11l7 6 7-6v10" />
          </svg>
          <span>
            model-gateway<span class="faint"> playground</span>
          </span>
        </p>
        <Menu />
        <div class="side-end">
          <Account />
          <ThemeButton />
        </div>
      </aside>
      <Announcements />
      <main id="main">
        <Banner />
        {hello.value === undefined ? (
          <p class="faint" role="status">
            Connecting…
          </p>
        ) : (
          <Shown key={panel} />
        )}
      </main>
    </div>
  );
}
