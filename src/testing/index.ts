/**
 * An emulator of the gateway for tests.
 *
 * @module model-gateway/testing
 */
export type { ModelAnswer, Responder, RespondOptions } from './control/canned.ts';
export type { EmulatorClock } from './control/clock.ts';
export { createEmulator, type Emulator, type EmulatorOptions } from './server/emulator.ts';
export type { ErrorDetails, ErrorEnvelope } from './server/errors.ts';
export type { EmulatedGateway, NewApiEdition } from './gateways/family.ts';
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
export { markers } from './routes/prompts.ts';
export { defaultModels, missingModel, type EmulatorModel, type Vendor } from './control/models.ts';
export {
  defaultQuirks,
  type AccountQuirks,
  type ChatQuirks,
  type GenerateQuirks,
  type ImageEncoding,
  type ImagePlace,
  type MediaQuirks,
  type Quirks,
  type SpeechPlace,
  type StreamQuirks,
  type StructuredOutputDialect,
  type TranscriptForm,
  type VideoQuirks,
  type VideoState,
} from './faults/quirks.ts';
export type { RequestBody, UploadedFile } from './server/request-body.ts';
export type { ReceivedPreflight, ReceivedRequest } from './control/request-log.ts';
export type { EmulatorServer } from './server/server.ts';
export type { EmulatorVideo, VideoTasks } from './videos/tasks.ts';
export type { TaskFailure } from './videos/vendors.ts';
