import {
  generateKeyPairSync,
  hash,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';

/** A certificate and its private key, in PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Certificates of a run's TLS servers, and the authority that runtimes trust. */
export interface Certificates {
  /** The certificate of the authority, in PEM. */
  readonly authority: string;
  /** SHA-256 of the public key of `trusted` in base64, as Chromium's command line takes it. */
  readonly trustedKeyHash: string;
  /** For `localhost` and `127.0.0.1`, signed by the authority. */
  readonly trusted: Identity;
  /** Signed by the authority, but for another name. */
  readonly otherName: Identity;
  /** For `localhost` and `127.0.0.1`, signed by itself. */
  readonly selfSigned: Identity;
}

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.of(0), content);

/** An object identifier, given by its encoded bytes in hexadecimal. */
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));

function encodeName(commonName: string): Buffer {
  const text = der(0x0c, Buffer.from(commonName, 'utf8'));
  return sequence(der(0x31, sequence(identifier('550403'), text)));
}

function extension(hex: string, critical: boolean, value: Uint8Array): Buffer {
  const flag = critical ? [der(0x01, Buffer.of(0xff))] : [];
  return sequence(identifier(hex), ...flag, octets(value));
}

interface Wanted {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly issuerKey: KeyObject;
  /** Host names and IPv4 addresses; none for an authority. */
  readonly hosts: readonly string[];
}

function alternativeName(host: string): Buffer {
  return /^[\d.]+$/.test(host)
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host, 'latin1'));
}

function encodeExtensions(hosts: readonly string[]): Buffer {
  const isAuthority = hosts.length === 0;
  const constraints = isAuthority ? sequence(der(0x01, Buffer.of(0xff))) : sequence();
  // An authority signs certificates; a server signs the handshake.
  const usage = der(0x03, isAuthority ? Buffer.of(2, 0x04) : Buffer.of(7, 0x80));
  const serverAuthentication = sequence(identifier('2b06010505070301'));
  return sequence(
    extension('551d13', true, constraints),
    extension('551d0f', true, usage),
    ...(isAuthority
      ? []
      : [
          extension('551d25', false, serverAuthentication),
          extension('551d11', false, sequence(...hosts.map(alternativeName))),
        ]),
  );
}

function certificate({ subject, issuer, publicKey, issuerKey, hosts }: Wanted): string {
  const serial = randomBytes(8);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const year = new Date().getUTCFullYear();
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    encodeName(issuer),
    sequence(utcTime(year - 1), utcTime(year + 2)),
    encodeName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, encodeExtensions(hosts)),
  );
  const encoded = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, issuerKey)));
  return new X509Certificate(encoded).toString();
}

function utcTime(year: number): Buffer {
  const digits = String(year % 100).padStart(2, '0');
  return der(0x17, Buffer.from(`${digits}0101000000Z`, 'latin1'));
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Makes fresh certificates, so that no private key is ever stored. */
export function makeCertificates(): Certificates {
  const authorityKeys = newKeys();
  const issuer = 'model-gateway test authority';
  const authority = certificate({
    subject: issuer,
    issuer,
    publicKey: authorityKeys.publicKey,
    issuerKey: authorityKeys.privateKey,
    hosts: [],
  });
  const signed = (hosts: readonly string[]): Identity => {
    const { publicKey, privateKey } = newKeys();
    const issuerKey = authorityKeys.privateKey;
    const subject = hosts[0] ?? '';
    return {
      cert: certificate({ subject, issuer, publicKey, issuerKey, hosts }),
      key: pem(privateKey),
    };
  };
  const own = newKeys();
  const hosts = ['localhost', '127.0.0.1'];
  const selfSigned = certificate({
    subject: 'localhost',
    issuer: 'localhost',
    publicKey: own.publicKey,
    issuerKey: own.privateKey,
    hosts,
  });
  const trusted = signed(hosts);
  return {
    authority,
    trustedKeyHash: keyHash(trusted.cert),
    trusted,
    otherName: signed(['other.test']),
    selfSigned: { cert: selfSigned, key: pem(own.privateKey) },
  };
}

function keyHash(cert: string): string {
  const { publicKey } = new X509Certificate(cert);
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64');
}
