import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4OperationStartResult as StartResult,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
} from '@ai-sdk/provider';
import type { Gateway } from '../../index.ts';
import { providerName } from './options.ts';
import { startVideos, type VideoSettings } from './video-start.ts';
import { pollStatus, type VideoWaits } from './video-status.ts';

/** A video model, with methods to submit a video and to poll its status. */
export type GatewayVideoModel = Pick<
  VideoModelV4,
  'specificationVersion' | 'provider' | 'modelId'
> & {
  readonly maxVideosPerCall: number;
  doStart(options: Parameters<NonNullable<VideoModelV4['doStart']>>[0]): Promise<StartResult>;
  doStatus(options: Parameters<NonNullable<VideoModelV4['doStatus']>>[0]): Promise<StatusResult>;
};

/**
 * Creates a video model. Without `doGenerate` the AI SDK does the polling, and any process can poll a
 * submitted task.
 *
 * @param connect - Returns the client, at the first call.
 * @param waits - State between polls, shared by all models of a provider.
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
    // With a lower limit, the AI SDK would split a call, and lose the other videos if one request failed.
    maxVideosPerCall: Number.MAX_SAFE_INTEGER,
    doStart: (options) => startVideos(connect(), modelId, settings, options),
    doStatus: (options) => pollStatus(connect(), modelId, settings, waits, options),
  };
}
