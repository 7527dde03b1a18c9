const tokenName = 'playground-token';
const linkName = 'playground-link';

/** Reads the token from the address, and stores it for reloads of the tab. */
function takeToken(): string {
  const [, fromAddress] = /[#&]token=([\w-]+)/.exec(location.hash) ?? [];
  if (fromAddress !== undefined) {
    sessionStorage.setItem(tokenName, fromAddress);
    const link = localStorage.getItem(linkName) ?? '';
    localStorage.removeItem(linkName);
    history.replaceState(null, '', location.pathname + location.search + link);
  }
  return fromAddress ?? sessionStorage.getItem(tokenName) ?? '';
}

export const token = takeToken();

/** Returns the hash of the address, without the token. */
export const readHash = (): string => location.hash;

/** Stores the opened link until the address from the terminal is opened. */
export function keepLink(): void {
  if (location.hash.startsWith('#/')) localStorage.setItem(linkName, location.hash);
}

// Opening the address of a new start in an old tab changes only the hash, so reload.
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) location.reload();
});
