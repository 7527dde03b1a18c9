export { downloadVideo, type DownloadVideoOptions } from './download-video.ts';
export { FileError } from './durable.ts';
export { fileFromPath } from './file-from-path.ts';
export { fileLedger } from './file-ledger.ts';
export {
  saveTo,
  type Savable,
  type SavableImage,
  type SavedFile,
  type SaveOptions,
  type SaveProgress,
} from './save-to.ts';
