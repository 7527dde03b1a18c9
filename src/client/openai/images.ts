/** Types of images, with the namespaces that code for `openai` uses. */
import type * as edit from '../../resources/images/edit.ts';
import type * as images from '../../resources/images/types.ts';
import type { Closed } from '../../types.ts';
import type { Uploadable } from '../../uploads/types.ts';
import type { ImageSVGUsage, ImageTokenDetails } from '../../resources/images/types.ts';

export type { ImageReference, ImageReferenceObject } from '../../resources/images/edit.ts';
export type * from '../../resources/images/types.ts';

/** The parameters that `images.generate()` accepts, with words that only some gateways know. */
export interface ImageGenerateInput extends images.ImageGenerateParamsNonStreaming {}

/** The parameters that `images.edit()` accepts, also references, and words that only some gateways know. */
export interface ImageEditInput extends edit.ImageEditParamsNonStreaming {}

/** Images as `openai` types them; `edit()` also accepts references. */
interface ImageFiles {
  image: Uploadable | Uploadable[];
  mask?: Uploadable | undefined;
  markup?: Uploadable | undefined;
}

type EditParams<Params extends edit.ImageEditParamsBase> = Omit<
  OpenAIImageParams<Params>,
  keyof ImageFiles
> &
  ImageFiles;

type OpenAIImageParams<Params extends images.ImageParamsBase> = Omit<Closed<Params>, 'size'> &
  Pick<Params, 'size'>;

type GenerateParams<Params extends images.ImageParamsBase> = Omit<
  OpenAIImageParams<Params>,
  'svg'
> & { svg?: ImageSVG | null | undefined };

/** Parameters of `images.edit()`, streamed or not. `edit()` also accepts references and other words. */
export interface ImageEditParamsBase extends EditParams<edit.ImageEditParamsBase> {}

/** Parameters of `images.edit()` without a stream. */
export interface ImageEditParamsNonStreaming extends EditParams<edit.ImageEditParamsNonStreaming> {}

/** Parameters of `images.edit()` with a stream. */
export interface ImageEditParamsStreaming extends EditParams<edit.ImageEditParamsStreaming> {}

/** Parameters of `images.edit()`. */
export type ImageEditParams = ImageEditParamsNonStreaming | ImageEditParamsStreaming;
export declare namespace ImageEditParams {
  export { ImageEditParamsNonStreaming, ImageEditParamsStreaming, ImageEditSVG as Svg };
}

/** Options for SVG images of an edit. */
export interface ImageEditSVG extends Closed<images.ImageSVG> {}
export declare namespace ImageEditSVG {
  type Reasoning = NonNullable<images.ImageSVG['reasoning']>;
}

/** Options for SVG images. */
export interface ImageSVG extends Omit<Closed<images.ImageSVG>, 'model'> {
  model: string;
}
export declare namespace ImageSVG {
  type Reasoning = NonNullable<images.ImageSVG['reasoning']>;
}

/** Parameters of `images.generate()`, streamed or not. `generate()` also accepts other words. */
export interface ImageGenerateParamsBase extends GenerateParams<images.ImageGenerateParamsBase> {}

/** Parameters of `images.generate()` without a stream. */
export interface ImageGenerateParamsNonStreaming extends GenerateParams<images.ImageGenerateParamsNonStreaming> {}

/** Parameters of `images.generate()` with a stream. */
export interface ImageGenerateParamsStreaming extends GenerateParams<images.ImageGenerateParamsStreaming> {}

/** Parameters of `images.generate()`. */
export type ImageGenerateParams = ImageGenerateParamsNonStreaming | ImageGenerateParamsStreaming;
export declare namespace ImageGenerateParams {
  export { ImageGenerateParamsNonStreaming, ImageGenerateParamsStreaming, ImageSVG as Svg };
}

/** Token usage of an image request. */
export interface ImageUsage extends images.ImageUsage {}
export declare namespace ImageUsage {
  export { ImageTokenDetails as InputTokensDetails, ImageTokenDetails as OutputTokensDetails };
}

/** Generated or edited images. */
export interface ImagesResponse extends images.ImagesResponse {}
export declare namespace ImagesResponse {
  export { ImageSVGUsage as SvgUsage, ImageUsage as Usage };
}

/** A generated image. */
export interface ImageGenCompletedEvent extends images.ImageGenCompletedEvent {}
export declare namespace ImageGenCompletedEvent {
  export { ImageUsage as Usage };
}

/** An edited image. */
export interface ImageEditCompletedEvent extends images.ImageEditCompletedEvent {}
export declare namespace ImageEditCompletedEvent {
  export { ImageUsage as Usage };
}
