import { timingSafeEqual } from 'node:crypto';

/** Headers of every response: allow only files of this server, no inline code and no frames. */
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

/** The header with the token, which is new at each start. */
const tokenHeader = 'x-playground-token';

/** The reason for rejecting a request. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

function isToken(value: string, token: string): boolean {
  const [a, b] = [Buffer.from(value), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const refuse = (status: number, message: string): Refusal => ({ status, message });

/**
 * Returns the reason to reject a request, or `undefined`. A page of another site can send requests to this
 * server. Such a request is recognized by its `Origin`, by its `Host` after DNS rebinding, or by the missing
 * token.
 *
 * @param port - The port of the server.
 */
export function checkRequest(request: Request, port: number, token: string): Refusal | undefined {
  const { protocol, host, pathname } = new URL(request.url);
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(port === 80 ? `${host}:80` : host)) {
    return refuse(421, 'This is not the address of the playground.');
  }
  const origin = `${protocol}//${host}`;
  const { headers } = request;
  if ((headers.get('origin') ?? origin) !== origin) {
    return refuse(403, 'Pages of other sites cannot use the playground.');
  }
  if (!pathname.startsWith('/api/')) {
    return ['GET', 'HEAD'].includes(request.method)
      ? undefined
      : refuse(405, 'Files support only GET and HEAD.');
  }
  const site = headers.get('sec-fetch-site') ?? 'same-origin';
  if (site !== 'same-origin') {
    return refuse(403, 'Pages of other sites cannot use the playground.');
  }
  if (!isToken(headers.get(tokenHeader) ?? '', token)) {
    return refuse(
      401,
      'This page is from an earlier start. Open the address shown in the terminal.',
    );
  }
  return undefined;
}
