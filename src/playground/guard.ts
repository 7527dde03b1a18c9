import { timingSafeEqual } from 'node:crypto';

/** What every answer says to a browser: nothing but our own files, no code in the page, no frames. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The header that carries the token of this start. */
const tokenHeader = 'x-playground-token';

/** Why a request is not served. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

function isToken(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const refuse = (status: number, message: string): Refusal => ({ status, message });

/**
 * Decides whether a request may be served. A page of another site can send requests to this address:
 * its `Origin` gives it away, or its `Host` when it has pointed a name of its own here, and it has no token.
 *
 * @param port - Where the server listens.
 */
export function refusalOf(request: Request, port: number, token: string): Refusal | undefined {
  const { protocol, host, pathname } = new URL(request.url);
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(port === 80 ? `${host}:80` : host)) {
    return refuse(421, 'This is not the address of the playground.');
  }
  const own = `${protocol}//${host}`;
  const { headers } = request;
  if ((headers.get('origin') ?? own) !== own) {
    return refuse(403, 'Pages of other sites cannot use the playground.');
  }
  if (!pathname.startsWith('/api/')) {
    return ['GET', 'HEAD'].includes(request.method)
      ? undefined
      : refuse(405, 'Files are only read.');
  }
  const site = headers.get('sec-fetch-site') ?? 'same-origin';
  if (site !== 'same-origin') {
    return refuse(403, 'Pages of other sites cannot use the playground.');
  }
  if (!isToken(headers.get(tokenHeader) ?? '', token)) {
    return refuse(
      401,
      'This page belongs to an earlier start. Open the address that the terminal shows.',
    );
  }
  return undefined;
}
