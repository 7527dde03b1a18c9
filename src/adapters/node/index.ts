/**
 * Files for Node.js, Deno and Bun: reads inputs, saves results, and keeps a ledger in a folder.
 *
 * @module model-gateway/node
 */
export { downloadVideo, type DownloadVideoOptions } from './download-video.ts';
export { FileError } from './durable.ts';
export { fileFromPath } from './file-from-path.ts';
export { fileLedger, type FileLedger } from './file-ledger.ts';
export {
  saveTo,
  type Savable,
  type SavableImage,
  type SavedFile,
  type SaveOptions,
  type SaveProgress,
} from './save-to.ts';
