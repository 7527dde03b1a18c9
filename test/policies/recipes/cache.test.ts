import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Chat, createGateway } from '../../../src/core.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { failureOf } from '../../helpers/clients.ts';
import { root } from '../../helpers/run-program.ts';
import { withCache } from './cache.ts';

const params = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hello!' }] };

function connect() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const options = { apiKey, baseURL, fetch, maxRetries: 0 };
  const { completions } = createGateway(options, { chat: Chat }, [withCache()]).chat;
  return { completions, emulator };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('the recipe for a cache', () => {
  test('answers a repeated call from memory for a minute, with its response', async () => {
    const { completions, emulator } = connect();
    const first = await completions.create(params).withResponse();

    const second = await completions.create(params).withResponse();
    const raw = await completions.create(params).asResponse();

    expect(second.data).toEqual(first.data);
    expect(second.data).not.toBe(first.data);
    expect(second.request_id).toBe(first.request_id);
    expect(second.response.status).toBe(200);
    await expect(raw.json()).resolves.toHaveProperty('id', first.data.id);
    expect(emulator.charges).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    await completions.create(params);
    expect(emulator.charges).toHaveLength(2);
  });

  test('stores neither other parameters, nor streams, nor errors', async () => {
    const { completions, emulator } = connect();
    emulator.fail({ fault: { type: 'error', status: 400 } });

    await failureOf(completions.create(params));
    await completions.create(params);
    await completions.create({ ...params, temperature: 1 });
    for await (const _ of await completions.create({ ...params, stream: true }));

    expect(emulator.charges).toHaveLength(3);
  });

  test('is the code in CONTRIBUTING.md, in at most 40 lines', () => {
    const code = readFileSync(join(root, 'test/policies/recipes/cache.ts'), 'utf8');
    const guide = readFileSync(join(root, 'docs/CONTRIBUTING.md'), 'utf8');
    const shown = code.slice(code.indexOf('type Answer')).trim();

    expect(guide).toContain(shown);
    expect(shown.split('\n').length).toBeLessThanOrEqual(40);
  });
});
