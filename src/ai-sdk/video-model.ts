import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4OperationStartResult as StartResult,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
} from '@ai-sdk/provider';
import type { Gateway } from '../index.ts';
import { providerName } from './options.ts';
import { startVideos, type VideoSettings } from './video-start.ts';
import { statusOf, type VideoWaits } from './video-status.ts';

/** A model that makes videos: a submission, and questions about how far it is. */
export type GatewayVideoModel = Pick<
  VideoModelV4,
  'specificationVersion' | 'provider' | 'modelId'
> & {
  readonly maxVideosPerCall: number;
  doStart(options: Parameters<NonNullable<VideoModelV4['doStart']>>[0]): Promise<StartResult>;
  doStatus(options: Parameters<NonNullable<VideoModelV4['doStatus']>>[0]): Promise<StatusResult>;
};

/**
 * A model that makes videos. It has no `doGenerate`, so that the AI SDK does the waiting, and a task
 * that was submitted can be asked for from any process.
 *
 * @param connect - Gives the client, at the first call.
 * @param waits - What is remembered of tasks between two questions, for all models of a provider.
 */
export function videoModel(
  connect: () => Gateway,
  modelId: string,
  settings: VideoSettings,
  waits: VideoWaits,
): GatewayVideoModel {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.video`,
    modelId,
    // The AI SDK would lose the videos of the other calls when one of several fails.
    maxVideosPerCall: Number.MAX_SAFE_INTEGER,
    doStart: (options) => startVideos(connect(), modelId, settings, options),
    doStatus: (options) => statusOf(connect(), modelId, settings, waits, options),
  };
}
