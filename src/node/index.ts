export { downloadVideo } from './download-video.ts';
export type { DownloadVideoOptions } from './download.ts';
export { FileError } from './file-error.ts';
export { fileFromPath } from './file-from-path.ts';
export { fileLedger } from './file-ledger.ts';
export type { Savable, SavableImage } from './savable.ts';
export { saveTo, type SavedFile, type SaveOptions, type SaveProgress } from './save-to.ts';
