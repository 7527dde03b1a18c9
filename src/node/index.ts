export { fileFrom } from './file-from.ts';
export { saveTo, type SavedFile, type SaveOptions, type SaveProgress } from './save-to.ts';
