import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, runProgram } from '../helpers/run-program.ts';

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => response.end(Buffer.alloc(8_000_000, ' ')));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

async function runCall(call: string): Promise<string> {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { output } = await runProgram(join(root, 'test/helpers/unread-responses.ts'), {
    CALL: call,
    GATEWAY_BASE_URL: `http://127.0.0.1:${port}`,
  });
  return output;
}

// A program that is held is killed after a minute, and has not said that it is over then.
describe.concurrent('a process exits with an unread answer', { timeout: 90_000 }, () => {
  test.each([
    'a call',
    'a call with a limit for all of it',
    'a call whose body is silent',
    'a call for a stream',
    'an answer',
    'a silent answer',
    'a file',
    'a silent stream',
  ])('%s', async (call) => {
    expect(await runCall(call)).toBe('over\n');
  });
});

describe.concurrent('a process with a response that is awaited', { timeout: 90_000 }, () => {
  test.each(['a body', 'an answer', 'a stream'])(
    '%s that is awaited stays until its time limit',
    async (thing) => {
      expect(await runCall(`${thing} that is awaited`)).toMatch(/ 50 ms.*\nover\n$/s);
    },
  );
});
