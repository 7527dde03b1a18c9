import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  ReadBuffer,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';

/** A server that the caller has started, and can end. */
export interface StartedServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
}

/** Returns the server that a process is. */
export function toServer(
  child: ChildProcess & Pick<StartedServer, 'stdin' | 'stdout'>,
): StartedServer {
  const { stdin, stdout } = child;
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { stdin, stdout, ended };
}

/** A transport over the streams of a server. */
export class StreamTransport implements Transport {
  readonly #server: StartedServer;
  readonly #buffer = new ReadBuffer();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(server: StartedServer) {
    this.#server = server;
  }

  async start(): Promise<void> {
    this.#server.stdout.on('data', (chunk: Buffer) => {
      this.#buffer.append(chunk);
      for (
        let message = this.#buffer.readMessage();
        message;
        message = this.#buffer.readMessage()
      ) {
        this.onmessage?.(message);
      }
    });
    void this.#server.ended.then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#server.stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#server.stdin.end();
  }
}
