import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFaultyServer } from '../helpers/faulty-server.ts';
import { root, runProgram } from '../helpers/run-program.ts';

test('failures without a listener cause no unhandled rejection, warning or leak', async () => {
  await using server = await startFaultyServer();

  const { code, output } = await runProgram(join(root, 'test/helpers/unobserved-failures.ts'), {
    GATEWAY_BASE_URL: server.url,
  });

  expect(output).toMatch(/^\d{4} failures\n$/);
  expect(code).toBe(0);
});
