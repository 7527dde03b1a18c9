export type { Responder, RespondOptions } from './routes/canned.ts';
export type { EmulatorClock } from './control/clock.ts';
export { createEmulator, type Emulator, type EmulatorOptions } from './server/emulator.ts';
export type { ErrorDetails, ErrorEnvelope } from './routes/errors.ts';
export type {
  ActiveFault,
  AnswerFault,
  BodyFault,
  ConnectionFault,
  Fault,
  FaultRule,
  StreamFault,
  TaskFault,
} from './faults/faults.ts';
export type { Charge } from './control/ledger.ts';
export { markers } from './routes/markers.ts';
export { defaultModels, missingModel, type EmulatorModel, type Vendor } from './routes/models.ts';
export {
  defaultQuirks,
  type ChatQuirks,
  type GenerateQuirks,
  type MediaQuirks,
  type Quirks,
  type StreamQuirks,
  type VideoQuirks,
  type VideoState,
} from './faults/quirks.ts';
export type { RequestBody, UploadedFile } from './server/request-body.ts';
export type { ReceivedPreflight, ReceivedRequest } from './server/request-log.ts';
export type { EmulatorServer } from './server/server.ts';
export type { EmulatorVideo, VideoTasks } from './routes/video-tasks.ts';
export type { TaskFailure } from './routes/video-vendors.ts';
