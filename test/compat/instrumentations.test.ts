// Instrumentations that patch the prototypes of the class that they are given.
import { OpenAIInstrumentation as OpenInference } from '@arizeai/openinference-instrumentation-openai';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { OpenAIInstrumentation as Traceloop } from '@traceloop/instrumentation-openai';
import { Gateway } from '../../dist/index.js';
import { expect, onTestFinished, test } from 'vitest';
import { untyped } from '../helpers/untyped.ts';
import { ask, setUp, spentAt } from './emulator.ts';

const instrumentations = {
  OpenInference: () => {
    const made = new OpenInference();
    return [made, () => made.manuallyInstrument(untyped({ OpenAI: Gateway }))] as const;
  },
  Traceloop: () => {
    const made = new Traceloop();
    return [made, () => made.manuallyInstrument(Gateway)] as const;
  },
};

/** Patches `Gateway` until the test has finished, and returns the spans. */
function instrument(name: keyof typeof instrumentations): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const owner: object = Reflect.get(Gateway.Chat.Completions, 'prototype');
  const original = Object.getOwnPropertyDescriptors(owner);
  onTestFinished(() => void Object.defineProperties(owner, original));
  const [made, patch] = instrumentations[name]();
  made.setTracerProvider(untyped(provider));
  patch();
  return exporter;
}

// Each is applied once: the instrumentations remember what they patched.
test.each([
  ['OpenInference', false],
  ['Traceloop', true],
] as const)(
  '%s traces a call, which keeps its response and its charge; with .withResponse(): %s',
  async (name, hasResponse) => {
    const plain = setUp();
    const expected = await plain.client.chat.completions.create(ask);
    const exporter = instrument(name);
    const { client, emulator } = setUp();

    const call = client.chat.completions.create(ask);
    const { choices } = await call;

    expect(choices).toEqual(expected.choices);
    expect('withResponse' in call).toBe(hasResponse);
    if (hasResponse) expect((await call.withResponse()).response.status).toBe(200);
    expect(spentAt(emulator)).toEqual(spentAt(plain.emulator));
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  },
);
