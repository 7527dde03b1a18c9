import type { ChildProcess } from 'node:child_process';
import {
  ReadBuffer,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';

/** A transport over a process that the caller has started, and can kill. */
export class ProcessTransport implements Transport {
  readonly child: ChildProcess;
  readonly #buffer = new ReadBuffer();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  async start(): Promise<void> {
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.#buffer.append(chunk);
      for (
        let message = this.#buffer.readMessage();
        message;
        message = this.#buffer.readMessage()
      ) {
        this.onmessage?.(message);
      }
    });
    this.child.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.child.stdin?.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.child.stdin?.end();
  }
}
