/** Types of images, with the namespaces that code for `openai` uses. */
import type * as edit from '../../resources/images/edit.ts';
import type * as images from '../../resources/images/types.ts';
import type {
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
} from '../../resources/images/edit.ts';
import type {
  ImageGenerateParamsNonStreaming,
  ImageGenerateParamsStreaming,
  ImageSVGUsage,
  ImageTokenDetails,
} from '../../resources/images/types.ts';

export type {
  ImageEditParamsBase,
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
  ImageReference,
  ImageReferenceObject,
} from '../../resources/images/edit.ts';
export type * from '../../resources/images/types.ts';

/** Parameters of `images.edit()`. */
export type ImageEditParams = edit.ImageEditParams;
export declare namespace ImageEditParams {
  export { ImageEditParamsNonStreaming, ImageEditParamsStreaming, ImageSVG as Svg };
}

/** Options for SVG images. */
export interface ImageSVG extends images.ImageSVG {}
export declare namespace ImageSVG {
  type Reasoning = NonNullable<images.ImageSVG['reasoning']>;
}

/** Parameters of `images.generate()`. */
export type ImageGenerateParams = images.ImageGenerateParams;
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
