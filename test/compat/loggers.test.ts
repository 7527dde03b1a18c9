// Loggers of other packages receive the message and its details, whatever the order of their arguments.
import { Writable } from 'node:stream';
import bunyan from 'bunyan';
import { createConsola } from 'consola';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import winston from 'winston';
import { Gateway, type Logger } from '../../dist/index.js';
import { createEmulator } from '../../dist/testing/index.js';
import { ask } from './emulator.ts';

/** A stream that keeps what is written to it. */
function memory(): { readonly stream: Writable; readonly read: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, read: () => text };
}

const loggers: readonly {
  readonly name: string;
  readonly create: (stream: Writable) => Logger;
  readonly message: string;
}[] = [
  { name: 'pino', create: (stream) => pino({ level: 'debug' }, stream), message: 'msg' },
  {
    name: 'a child of pino',
    create: (stream) => pino({ level: 'debug' }, stream).child({ part: 'gateway' }),
    message: 'msg',
  },
  {
    name: 'bunyan',
    create: (stream) => bunyan.createLogger({ name: 'test', level: 'debug', stream }),
    message: 'msg',
  },
  {
    name: 'winston',
    create: (stream) =>
      winston.createLogger({
        level: 'debug',
        format: winston.format.json(),
        transports: [new winston.transports.Stream({ stream })],
      }),
    message: 'message',
  },
];

async function logACall(logger: Logger): Promise<void> {
  const { apiKey, baseURL, fetch } = createEmulator();
  const client = new Gateway({ apiKey, baseURL, fetch, logger, logLevel: 'debug' });
  await client.chat.completions.create(ask);
}

describe.each(loggers)('$name', ({ create, message }) => {
  test('logs the message, and the details as fields', async () => {
    const { stream, read } = memory();
    await logACall(create(stream));
    const lines = read()
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));

    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line[message]).toMatch(/^\[model-gateway\] /);
      expect(line).toHaveProperty('operation', 'chat.completions.create');
    }
  });
});

test('consola and console receive the message first', async () => {
  const received: unknown[][] = [];
  const consola = createConsola({
    level: 5,
    reporters: [{ log: ({ args }) => received.push(args) }],
  });
  await logACall(consola);

  expect(received.length).toBeGreaterThan(0);
  for (const [message, details] of received) {
    expect(message).toMatch(/^\[model-gateway\] /);
    expect(details).toHaveProperty('operation', 'chat.completions.create');
  }
});
