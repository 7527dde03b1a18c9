import { typeOfBytes } from '../answers/file-type.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { blobOf, checkFile, headOf, openFile, unreadable } from './file-input.ts';
import { typeOfName } from './file-name.ts';

/** What `new File()` takes. Node's types and those of browsers have different names for it. */
export type FileOptions = NonNullable<ConstructorParameters<typeof File>[2]>;

/** Does what `toFile()` says. */
export async function readFile(
  given: unknown,
  name: string | null | undefined,
  options: FileOptions | undefined,
): Promise<File> {
  checkFile('value', given);
  const own = given instanceof File ? given : undefined;
  // Files of other packages, such as those of a polyfill, have a date too.
  const date: unknown = Reflect.get(Object(given), 'lastModified');
  const { type, lastModified = typeof date === 'number' ? date : Date.now() } = { ...options };
  const isRenamed = (name ?? own?.name) !== own?.name;
  const isUnchanged = (type ?? own?.type) === own?.type && lastModified === own?.lastModified;
  if (own !== undefined && isUnchanged && !isRenamed) return own;
  try {
    const file = await openFile(given);
    const blob = await blobOf(file);
    const fileName = name ?? file.name ?? 'unknown_file';
    const found = file.type || (typeOfName(fileName) ?? typeOfBytes(await headOf(blob)) ?? '');
    return new File([blob], fileName, { ...options, type: type ?? found, lastModified });
  } catch (error) {
    throw new InvalidInputError('value', unreadable(error), { cause: error });
  }
}
