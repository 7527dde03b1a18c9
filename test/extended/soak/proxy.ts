import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What the proxy does with a request. The gateway makes and charges the call except with the first two. */
const faults = [
  'reset before the gateway',
  'error before the gateway',
  'reset after the charge',
  'error page after the charge',
  'cut response',
  'delay',
] as const;

export interface FaultProxy {
  readonly url: string;
  /** Refuses connections for some milliseconds. */
  outage(milliseconds: number): Promise<void>;
  close(): void;
}

const page = (status: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\ncontent-length: 9\r\nconnection: close\r\n\r\n<p>no</p>`;

/**
 * Starts a TCP proxy in front of a local gateway that breaks exchanges: it resets connections before or after the
 * gateway has got the request, cuts responses, delays requests, and answers in place of the gateway.
 *
 * @param share - The share of broken exchanges, from 0 to 1.
 */
export async function startProxy(
  port: number,
  share: number,
  random: () => number,
): Promise<FaultProxy> {
  const open = new Set<Socket>();

  function serve(client: Socket): void {
    const gateway = connect(port, '127.0.0.1');
    let fault: (typeof faults)[number] | undefined;
    let isAnswered = true;
    const end = (last?: string): void => {
      if (last === undefined) client.resetAndDestroy();
      else client.end(last);
      gateway.destroy();
    };
    client.on('data', (chunk) => {
      if (isAnswered) {
        isAnswered = false;
        fault = random() < share ? faults[Math.floor(random() * faults.length)] : undefined;
      }
      if (fault === 'reset before the gateway') return end();
      if (fault === 'error before the gateway') return end(page('503 Service Unavailable'));
      if (fault !== 'delay') return void gateway.write(chunk);
      client.pause();
      setTimeout(() => {
        gateway.write(chunk);
        client.resume();
      }, 300);
    });
    gateway.on('data', (chunk) => {
      isAnswered = true;
      if (fault === 'reset after the charge') return end();
      if (fault === 'error page after the charge') return end(page('502 Bad Gateway'));
      if (fault !== 'cut response') return void client.write(chunk);
      client.write(chunk.subarray(0, chunk.length / 2), () => end());
    });
    for (const [socket, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  }

  const server = createServer(serve);
  const listen = (at: number): Promise<void> =>
    new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async outage(milliseconds) {
      server.close();
      for (const socket of open) socket.resetAndDestroy();
      await delay(milliseconds);
      await listen(address.port);
    },
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
