import { GatewayError, InvalidInputError } from '../../errors/gateway-error.ts';
import type { StreamingFileInput, Uploadable } from '../../types/uploads.ts';
import { openSource, type ByteSource } from './byte-source.ts';
import { describeFile, type FileDescription } from './describe-file.ts';
import { nameOf } from './file-name.ts';
import { sizeOfFileStream } from './file-size.ts';
import type { FilePurpose } from './formats.ts';
import { isBinary, isBlob, isResponse, isUploadData } from './kinds.ts';
import { sniffLength } from './sniff.ts';
import { isStreamingFile } from './streaming-file.ts';
import { bufferContent, unreadable } from './to-file.ts';

/** A file whose name, MIME type and beginning are known, and which is not empty. */
export type ReadyFile = MemoryFile | StreamFile;

/** A file that can be read any number of times. */
interface MemoryFile extends FileDescription {
  readonly blob: Blob;
}

/** A file that can be read once. */
interface StreamFile extends FileDescription {
  readonly source: ByteSource;
  /** Length in bytes, or `undefined` when it is not known. */
  readonly size: number | undefined;
}

/** An upload of which nothing has been read yet. */
export interface OpenedUpload {
  /** Looks at the beginning of the file, and settles its name and MIME type. */
  ready(): Promise<ReadyFile>;
  /** The stream behind the upload, or `undefined` when there is none. */
  readonly source: ByteSource | undefined;
}

/** What is uploaded, and as what. */
export interface UploadRequest {
  readonly value: Uploadable;
  readonly purpose: FilePurpose;
  /** The parameter that holds the file, for errors. */
  readonly field: string;
}

/**
 * Opens an upload, at once: a stream that fails before it is read must find someone listening.
 *
 * @throws `InvalidInputError` naming the field when another reader holds the stream.
 */
export function openUpload(request: UploadRequest): OpenedUpload {
  const { value } = request;
  if (isStreamingFile(value)) return openStream(request, value.data, value);
  if (isBlob(value) || isBinary(value) || isResponse(value) || isUploadData(value)) {
    const read = async (): Promise<MemoryFile> => {
      const { blob, name, type } = await bufferContent(value);
      const head = new Uint8Array(await blob.slice(0, sniffLength).arrayBuffer());
      return { blob, ...describe(request, head, name, type) };
    };
    return { source: undefined, ready: () => naming(request.field, read) };
  }
  return openStream(request, value, { name: nameOf(value) });
}

interface StreamFacts {
  readonly name: string | undefined;
  readonly type?: string | undefined;
  readonly size?: number | undefined;
}

function openStream(
  request: UploadRequest,
  stream: StreamingFileInput,
  facts: StreamFacts,
): OpenedUpload {
  let source: ByteSource;
  try {
    source = openSource(stream);
  } catch (error) {
    throw new InvalidInputError(request.field, unreadable(error), { cause: error });
  }
  const read = async (): Promise<StreamFile> => {
    const { head, ended } = await source.peek(sniffLength);
    const description = describe(request, head, facts.name, facts.type);
    const found = ended ? head.byteLength : await sizeOfFileStream(stream);
    return { source, size: facts.size ?? found, ...description };
  };
  return { source, ready: () => naming(request.field, read) };
}

function describe(
  { field, purpose }: UploadRequest,
  head: Uint8Array,
  name: string | undefined,
  type: string | undefined,
): FileDescription {
  if (head.byteLength > 0) return describeFile({ field, purpose, name, type, head });
  throw new InvalidInputError(
    field,
    'is empty (0 bytes); check its path, and that nothing has read it before.',
  );
}

/** Makes an error of the platform name the field. */
async function naming<File extends ReadyFile>(
  field: string,
  read: () => Promise<File>,
): Promise<File> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new InvalidInputError(field, unreadable(error), { cause: error });
  }
}
