import { APICallError, createProviderRegistry, generateImage, NoImageGeneratedError } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import type { Fault } from '../../../src/testing/index.ts';
import { failureOf, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved, settle } from '../../helpers/fake-time.ts';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { emulatedProvider, faults, scriptedProvider } from './support.ts';

const model = 'm-image';
const prompt = 'A lighthouse';
const png = [0x89, 0x50, 0x4e, 0x47];

/** A provider whose gateway answers with images at these addresses, which `read` serves. */
function withAddresses(urls: readonly string[], read: (url: string) => Response) {
  return scriptedProvider([
    json({ created: 1, data: urls.map((url) => ({ url })) }),
    ({ url }) => read(url),
  ]);
}

function paid(requests: readonly Request[]): number {
  return requests.filter(({ method }) => method === 'POST').length;
}

describe('images', () => {
  test('images are returned as bytes in any format of the gateway, and charged once', async () => {
    const { provider, emulator } = emulatedProvider();

    const result = await generateImage({
      model: provider.imageModel(model),
      prompt,
      n: 2,
      size: '64x64',
      providerOptions: { modelGateway: { quality: 'low' } },
    });

    expect(result.images).toHaveLength(2);
    for (const { uint8Array, mediaType } of result.images) {
      expect([...uint8Array.subarray(0, 4)]).toEqual(png);
      expect(mediaType).toBe('image/png');
    }
    expect(result.warnings).toEqual([]);
    expect(result.providerMetadata['modelGateway']?.images).toMatchObject([
      { revisedPrompt: prompt },
      { revisedPrompt: prompt },
    ]);
    expect(emulator.charges).toHaveLength(1);
    const value = { model, prompt, n: 2, size: '64x64', quality: 'low' };
    expect(emulator.requests[0]?.body).toMatchObject({ kind: 'json', value });
  });

  test.each(['b64_json', 'data-url'] as const)(
    'received as %s are not downloaded again',
    async (format) => {
      const { provider, emulator } = emulatedProvider({}, { quirks: { imageFormat: format } });

      const { image } = await generateImage({ model: provider.imageModel(model), prompt });

      expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
      expect(emulator.requests).toHaveLength(1);
    },
  );

  test('images are edited as files with a mask', async () => {
    const { provider, emulator } = emulatedProvider();
    const made = await generateImage({ model: provider.imageModel(model), prompt, size: '64x64' });
    const { uint8Array } = made.image;

    const result = await generateImage({
      model: provider.imageModel(model),
      prompt: { text: 'Snow', images: [uint8Array, uint8Array], mask: uint8Array },
    });

    expect([...result.image.uint8Array.subarray(0, 4)]).toEqual(png);
    const body = emulator.requests.find(({ operation }) => operation === 'images.edit')?.body;
    expect(body).toMatchObject({ kind: 'multipart' });
    expect(JSON.stringify(body)).toMatch(/mask/);
    expect(emulator.charges).toHaveLength(2);
  });

  test('images with a URL are sent as URLs, next to files', async () => {
    const { provider, requests } = scriptedProvider([json({ data: [{ b64_json: 'iVBORw==' }] })]);
    const images = ['https://pictures.example/a.png', Uint8Array.from(png)];

    await generateImage({ model: provider.imageModel(model), prompt: { text: 'Snow', images } });

    const image = ['https://pictures.example/a.png', 'data:image/png;base64,iVBORw=='];
    expect(await requests[0]?.json()).toMatchObject({ model, prompt: 'Snow', image });
  });

  test('unsupported options become warnings', async () => {
    const { provider, emulator } = emulatedProvider();

    const { warnings } = await generateImage({
      model: provider.imageModel(model),
      prompt,
      seed: 1,
      aspectRatio: '16:9',
    });

    expect(warnings).toMatchObject([
      { type: 'unsupported', feature: 'seed' },
      { type: 'compatibility', feature: 'aspectRatio' },
    ]);
    expect(emulator.requests[0]?.body).toMatchObject({ value: { aspect_ratio: '16:9' } });
    expect(emulator.requests[0]?.body).not.toMatchObject({ value: { seed: 1 } });
  });

  test('a registry finds the image models of a provider', async () => {
    const { provider } = emulatedProvider();
    const registry = createProviderRegistry({ gateway: provider });

    const { images } = await generateImage({
      model: registry.imageModel('gateway:m-image'),
      prompt,
    });

    expect(images).toHaveLength(1);
  });
});

describe('no image is charged twice', () => {
  test('no image is charged twice when a filter removes all images', async () => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { imagesFiltered: 2 } });

    const error = await failureOf(
      generateImage({ model: provider.imageModel(model), prompt, n: 2, maxRetries: 5 }),
    );

    expect(NoImageGeneratedError.isInstance(error)).toBe(true);
    expect(emulator.charges).toHaveLength(1);
    expect(emulator.requests).toHaveLength(1);
  });

  test('no image is charged twice when more images are requested than a request allows', async () => {
    const { provider, emulator } = emulatedProvider();
    const small = provider.imageModel(model, { maxImagesPerCall: 2 });

    const { images } = await generateImage({ model: small, prompt, n: 5, size: '16x16' });

    expect(images).toHaveLength(5);
    const counts = emulator.requests.flatMap(({ body }) =>
      body.kind === 'json' ? [Object(body.value).n] : [],
    );
    expect(counts).toEqual([2, 2, 1]);
    expect(emulator.charges).toHaveLength(3);
  });

  test.each([
    ['dall-e-3', [1, 1, 1]],
    ['imagen-4.0-generate-001', [3]],
    ['gpt-image-1', [3]],
  ])('%s is requested with its maximum number of images', async (name, wanted) => {
    const { provider, emulator } = emulatedProvider();

    await generateImage({ model: provider.imageModel(name), prompt, n: 3, size: '16x16' });

    const { requests } = emulator;
    const counts = requests.flatMap(({ body }) =>
      body.kind === 'json' ? [Object(body.value).n] : [],
    );
    expect(counts).toEqual(wanted);
  });

  test('the images of the other requests are kept when one of several fails', async () => {
    const { provider, emulator } = emulatedProvider();
    const fault: Fault = { type: 'reset', when: 'after-charge' };
    emulator.fail({ operation: 'images.generate', fault, after: 1 });
    const small = provider.imageModel(model, { maxImagesPerCall: 1 });

    const { images, warnings } = await generateImage({ model: small, prompt, n: 3, size: '16x16' });

    expect(images).toHaveLength(2);
    expect(warnings).toMatchObject([
      { message: expect.stringMatching(/^One of 3 requests failed/) },
    ]);
    expect(emulator.charges).toHaveLength(3);
  });

  test('each request has its own idempotency key, if the option is set', async () => {
    const { provider, emulator } = emulatedProvider({ idempotency: { header: 'Idempotency-Key' } });
    const small = provider.imageModel(model, { maxImagesPerCall: 1 });
    const providerOptions = { modelGateway: { callId: 'job-1' } };

    await generateImage({ model: small, prompt, n: 2, size: '16x16', providerOptions });

    const keys = emulator.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys.filter(Boolean)).toEqual(['job-1', 'job-1-2']);
  });

  test('no image is charged twice when the response is a task, which is awaited', async () => {
    vi.useFakeTimers();
    const { provider, emulator } = emulatedProvider({}, { quirks: { imageTasks: 'data' } });

    const end = await settle(
      generateImage({ model: provider.imageModel(model), prompt, size: '64x64' }),
    );
    vi.useRealTimers();

    expect(end).toHaveProperty('value.images.length', 1);
    expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('the error has the handle when the caller aborts an image task', async () => {
    const quirks = { imageTasks: 'data', imageTaskTime: 600_000 } as const;
    const { provider, emulator } = emulatedProvider({}, { quirks });
    const controller = new AbortController();

    const failure = failureOf(
      generateImage({ model: provider.imageModel(model), prompt, abortSignal: controller.signal }),
    );
    const isPolled = () => emulator.requests.some(({ method }) => method === 'GET');
    await expect.poll(() => isPolled()).toBe(true);
    controller.abort();

    expect(await failure).toMatchObject({
      name: 'AbortError',
      outcome: 'unknown',
      ref: { kind: 'image' },
    });
    expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('no image is charged twice when the caller aborts', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'hang', charged: true } });
    const controller = new AbortController();

    const failure = failureOf(
      generateImage({ model: provider.imageModel(model), prompt, abortSignal: controller.signal }),
    );
    await expect.poll(() => emulator.charges).toHaveLength(1);
    controller.abort();

    expect(await failure).toMatchObject({ name: 'AbortError', outcome: 'unknown' });
    expect(emulator.requests).toHaveLength(1);
  });

  test('the error has the other images when the caller aborts one of several requests', async () => {
    const onEnd = vi.fn();
    const observer = { start: () => ({ end: onEnd }) };
    const { provider, emulator } = emulatedProvider({ observer });
    emulator.fail({ operation: 'images.generate', fault: { type: 'hang' }, after: 1 });
    const controller = new AbortController();
    const small = provider.imageModel(model, { maxImagesPerCall: 1 });

    const failure = failureOf(
      generateImage({ model: small, prompt, n: 2, abortSignal: controller.signal }),
    );
    await expect.poll(() => emulator.requests).toHaveLength(2);
    await expect.poll(() => onEnd).toHaveBeenCalledOnce();
    controller.abort();

    expect(await failure).toMatchObject({
      name: 'AbortError',
      data: { data: [{ url: expect.stringMatching(/^http/) }] },
    });
  });

  test.each([0, -1, 1.5, Number.NaN])('a limit of %d is rejected', (maxImagesPerCall) => {
    const { provider } = emulatedProvider();

    expect(() => provider.imageModel(model, { maxImagesPerCall })).toThrow(/at least 1/);
    expect(() =>
      provider.embeddingModel(model, { maxEmbeddingsPerCall: maxImagesPerCall }),
    ).toThrow(/at least 1/);
  });

  test('without a limit, there is one request', async () => {
    const { provider, emulator } = emulatedProvider();
    const large = provider.imageModel(model, { maxImagesPerCall: Infinity });

    const { images } = await generateImage({ model: large, prompt, n: 12, size: '16x16' });

    expect(images).toHaveLength(12);
    expect(emulator.charges).toHaveLength(1);
  });

  describe('requests that never end', () => {
    fakeWaitingTime();

    test("no image is charged twice after the client's timeout", async () => {
      const { provider, emulator } = emulatedProvider({ timeout: 5_000 });
      emulator.fail({ fault: { type: 'hang', charged: true }, times: 5 });

      const error = await rejected(generateImage({ model: provider.imageModel(model), prompt }));

      expect(APICallError.isInstance(error)).toBe(true);
      expect(emulator.charges).toHaveLength(1);
      expect(emulator.requests).toHaveLength(1);
    });

    test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))(
      'no image is charged twice after %s',
      async (_, fault) => {
        const alone = emulatedProvider();
        const asked = emulatedProvider();
        for (const { emulator } of [alone, asked]) {
          emulator.fail({ operation: 'images.generate', fault, times: 10 });
        }
        const params = { model, prompt, n: 1, size: '16x16' };

        await resolved(alone.client.images.generate(params).then(...nothing));
        const call = { model: asked.provider.imageModel(model), prompt, size: '16x16' as const };
        await resolved(generateImage(call).then(...nothing));

        const count = ({ emulator }: typeof asked): number =>
          emulator.requests.filter(({ method }) => method === 'POST').length;
        expect(count(asked)).toBe(count(alone));
        expect(asked.emulator.charges.length).toBe(alone.emulator.charges.length);
        expect(asked.emulator.charges.length).toBeLessThanOrEqual(1);
      },
    );
  });
});

const nothing = [() => {}, () => {}] as const;

describe('a paid image', () => {
  const address = 'https://files.example/a.png?signature=s%2Bx';

  test("a paid image is downloaded by the client, without the caller's options", async () => {
    const { provider, requests } = withAddresses(
      [address],
      () => new Response(Uint8Array.from(png)),
    );

    const { image } = await generateImage({ model: provider.imageModel(model), prompt });

    expect([...image.uint8Array]).toEqual(png);
    expect(requests[1]?.url).toBe(address);
    expect(requests[1]?.headers.get('authorization')).toBeNull();
    expect(requests).toHaveLength(2);
  });

  test("a paid image is downloaded without the client's headers and query", async () => {
    const options = {
      defaultHeaders: { 'x-secret': 'yes' },
      defaultQuery: { secret: 'yes' },
      idempotency: { header: 'x-key' },
    };
    const { client, requests } = scripted(
      [json({ data: [{ url: address }] }), () => new Response(Uint8Array.from(png))],
      options,
    );

    await generateImage({ model: createModelGateway({ client }).imageModel(model), prompt });

    expect(requests[1]?.url).toBe(address);
    expect([...(requests[1]?.headers.keys() ?? [])]).toEqual(['accept']);
  });

  describe('failed downloads', () => {
    fakeWaitingTime();

    test('a paid image is downloaded again after a failure, without another charge', async () => {
      let reads = 0;
      const { provider, requests } = withAddresses([address], () => {
        reads += 1;
        if (reads < 3) return new Response('no', { status: 503 });
        return new Response(Uint8Array.from(png));
      });

      const { images } = await resolved(
        generateImage({ model: provider.imageModel(model), prompt }),
      );

      expect(images).toHaveLength(1);
      expect(paid(requests)).toBe(1);
      expect(reads).toBe(3);
    });

    test('a paid image is downloaded again after a cut', async () => {
      let reads = 0;
      const { provider, requests } = withAddresses([address], () => {
        reads += 1;
        if (reads === 2) return new Response(Uint8Array.from(png));
        return new Response(
          new ReadableStream({
            pull(controller) {
              controller.error(new TypeError('terminated'));
            },
          }),
        );
      });

      const { images } = await resolved(
        generateImage({ model: provider.imageModel(model), prompt }),
      );

      expect(images).toHaveLength(1);
      expect(paid(requests)).toBe(1);
    });

    test('a paid image that cannot be downloaded is on the error with its URL', async () => {
      const { provider, requests } = withAddresses(
        [address],
        () => new Response('', { status: 403 }),
      );

      const error = await rejected(
        generateImage({ model: provider.imageModel(model), prompt, maxRetries: 5 }),
      );

      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ isRetryable: false, data: { data: [{ url: address }] } });
      expect(paid(requests)).toBe(1);
    });

    test('a paid image that cannot be downloaded is on the error with the others', async () => {
      const other = 'https://files.example/b.png';
      const { provider, requests } = withAddresses([address, other], (url) =>
        url === other ? new Response(Uint8Array.from(png)) : new Response('', { status: 403 }),
      );

      const { images, warnings } = await resolved(
        generateImage({ model: provider.imageModel(model), prompt, n: 2 }),
      );

      expect(images).toHaveLength(1);
      expect(warnings).toMatchObject([{ message: expect.stringContaining(address) }]);
      expect(paid(requests)).toBe(1);
    });
  });
});
