import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { checkNewImage } from './body.ts';
import { imageGenProtocol, imagesOf, imagesSchema } from './schema.ts';
import type { ImageGenerateParamsBase, ImageGenStreamEvent, ImagesResponse } from './types.ts';

export { generateManyImages } from './many.ts';

const collectEvents = collectAs(imageGenProtocol(1));

/** How images are read that come in one piece. */
export const wholeAnswer = jsonAnswer({
  schema: imagesSchema,
  fromEvents: async (call, answer) => imagesOf(await collectEvents(call, answer)),
});

export function generateImages(
  transport: Transport,
  params: ImageGenerateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ImagesResponse | Stream<ImageGenStreamEvent>> {
  const request = () => {
    checkNewImage(params);
    return { json: params };
  };
  if (params?.stream !== true) {
    return transport.call('images.generate', request, wholeAnswer, options);
  }
  const events = eventAnswer(imageGenProtocol(params.n ?? 1));
  return transport.call('images.generate', request, events, options);
}
