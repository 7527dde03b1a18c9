export type { Responder, RespondOptions } from './canned.ts';
export type { EmulatorClock } from './clock.ts';
export { createEmulator, type Emulator, type EmulatorOptions } from './emulator.ts';
export type { ErrorDetails, ErrorEnvelope } from './errors.ts';
export type {
  ActiveFault,
  AnswerFault,
  BodyFault,
  ConnectionFault,
  Fault,
  FaultRule,
  StreamFault,
  TaskFault,
} from './faults.ts';
export type { Charge } from './ledger.ts';
export { markers } from './markers.ts';
export { defaultModels, missingModel, type EmulatorModel, type Vendor } from './models.ts';
export {
  defaultQuirks,
  type ChatQuirks,
  type GenerateQuirks,
  type MediaQuirks,
  type Quirks,
  type StreamQuirks,
  type VideoQuirks,
  type VideoState,
} from './quirks.ts';
export type { RequestBody, UploadedFile } from './request-body.ts';
export type { ReceivedPreflight, ReceivedRequest } from './request-log.ts';
export type { EmulatorServer } from './server.ts';
export type { EmulatorVideo, VideoTasks } from './video-tasks.ts';
export type { TaskFailure } from './video-vendors.ts';
