/*
 * Tells by the container of a file whether it was cut. Nothing is kept of it except for the header that is being read.
 */

/** What a walk through a container needs next. */
type Need =
  /** The next bytes. `stays` leaves them to the next need; a file may end here if `mayEnd` is set. */
  | { read: number; stays?: boolean; mayEnd?: boolean }
  | { skip: number }
  /** Bytes up to this one. */
  | { until: number };

/** A walk ends at the end of its container, or where the bytes are of no known one. */
type Walk = Generator<Need, void, Uint8Array>;

const nothing = new Uint8Array();

/** Joins bytes, without a copy if the first part is empty. */
export function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

const toText = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Returns a number of big-endian bytes. */
const toNumber = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0);

function* read(count: number): Generator<Need, number, Uint8Array> {
  return toNumber(yield { read: count });
}

/** Beginning of a file in the ISO media format: MP4, MOV, M4A, AVIF and HEIC. */
const firstBox = /^.{4}(ftyp|styp|moov|mdat|free|skip|wide|pnot)/s;

/** Walks through boxes. A file whose index is missing was cut between two boxes. */
function* walkBoxes(): Walk {
  let hasMedia = false;
  let hasIndex = false;
  for (;;) {
    const header = yield { read: 8, mayEnd: !hasMedia || hasIndex };
    const type = toText(header.subarray(4));
    let size = toNumber(header.subarray(0, 4));
    let length = 8;
    if (size === 1) {
      size = yield* read(8);
      length = 16;
    }
    // The last box may have no size.
    if (size < length || !/^[\w \xa9-]{4}$/.test(type)) return;
    hasMedia ||= type === 'mdat';
    hasIndex ||= /^(moov|moof|meta)$/.test(type);
    yield { skip: size - length };
  }
}

/** Larger sizes are placeholders of writers that cannot go back to the header. */
const largestRIFF = 0x7f_ff_00_00;

/** Walks through WAV, WebP or AVI. Some writers count the header of eight bytes too. */
function* walkRIFF(): Walk {
  const header = yield { read: 8 };
  const size = toNumber(header.subarray(4).toReversed());
  if (size < largestRIFF) yield { skip: Math.max(0, size - 8) };
}

function* walkPNG(): Walk {
  yield { skip: 8 };
  for (;;) {
    const size = yield* read(4);
    const type = toText(yield { read: 4 });
    if (!/^[A-Za-z]{4}$/.test(type)) return;
    yield { skip: size + 4 };
    if (type === 'IEND') return;
  }
}

function* walkJPEG(): Walk {
  yield { skip: 2 };
  let marker = yield* read(2);
  for (;;) {
    if (marker >> 8 !== 0xff) return;
    let code = marker & 0xff;
    while (code === 0xff) code = yield* read(1);
    if (code === 0xd9) return;
    const hasSegment = code !== 0x01 && !(code >= 0xd0 && code <= 0xd8);
    if (hasSegment) {
      const size = yield* read(2);
      if (size < 2) return;
      yield { skip: size - 2 };
    }
    if (code !== 0xda) {
      marker = yield* read(2);
      continue;
    }
    // Compressed data ends at a marker other than those in it.
    do {
      yield { until: 0xff };
      code = yield* read(1);
      while (code === 0xff) code = yield* read(1);
    } while (code === 0 || (code >= 0xd0 && code <= 0xd7));
    marker = 0xff_00 | code;
  }
}

/** Returns the size of the color table that flags announce. */
const colorTable = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

function* walkGIF(): Walk {
  yield { skip: 10 };
  const flags = yield* read(1);
  yield { skip: 2 + colorTable(flags) };
  for (;;) {
    const block = yield* read(1);
    if (block === 0x2c) {
      yield { skip: 8 };
      yield { skip: 1 + colorTable(yield* read(1)) };
    } else if (block === 0x21) {
      yield { skip: 1 };
    } else {
      return;
    }
    for (let size = yield* read(1); size > 0; size = yield* read(1)) yield { skip: size };
  }
}

/** Returns the size of an element of EBML; `undefined` if it is unknown. */
function* readSize(): Generator<Need, number | undefined, Uint8Array> {
  const first = yield* read(1);
  const length = Math.clz32(first) - 23;
  if (length > 8) return undefined;
  const others = length > 1 ? yield { read: length - 1 } : nothing;
  const bits = first & (0xff >> length);
  const isUnknown = bits === 0xff >> length && others.every((byte) => byte === 0xff);
  return isUnknown ? undefined : bits * 256 ** others.length + toNumber(others);
}

/** Walks through WebM or Matroska: a header, and one segment. */
function* walkEBML(): Walk {
  for (const id of [0x1a_45_df_a3, 0x18_53_80_67]) {
    if ((yield* read(4)) !== id) return;
    const size = yield* readSize();
    if (size === undefined) return;
    yield { skip: size };
  }
}

const walks: readonly (readonly [beginning: RegExp, walk: () => Walk])[] = [
  [firstBox, walkBoxes],
  [/^RIFF.{4}(WAVE|WEBP|AVI )/s, walkRIFF],
  [/^\x89PNG\r\n/, walkPNG],
  [/^\xff\xd8\xff/, walkJPEG],
  [/^GIF8[79]a/, walkGIF],
  [/^.E\xdf\xa3/s, walkEBML],
];

function* walkFile(): Walk {
  const beginning = toText(yield { read: 12, stays: true, mayEnd: true });
  const [, walk] = walks.find(([pattern]) => pattern.test(beginning)) ?? [];
  if (walk !== undefined) yield* walk();
}

/** Follows a file, in chunks of any sizes, to the end of its container. */
export class ContainerWalk {
  readonly #walk = walkFile();
  #need: Need | undefined;
  /** The beginning of a header that is in two chunks. */
  #pending = nothing;

  constructor() {
    this.#advance(nothing);
  }

  #advance(bytes: Uint8Array): void {
    this.#need = this.#walk.next(bytes).value ?? undefined;
  }

  /** Follows the next bytes. */
  add(chunk: Uint8Array): void {
    if (this.#need === undefined) return;
    const bytes = join(this.#pending, chunk);
    let position = 0;
    while (this.#need !== undefined) {
      const need: Need = this.#need;
      const left = bytes.length - position;
      if ('read' in need) {
        if (left < need.read) break;
        const found = bytes.slice(position, position + need.read);
        if (need.stays !== true) position += need.read;
        this.#advance(found);
      } else if ('skip' in need) {
        const skipped = Math.min(left, need.skip);
        position += skipped;
        need.skip -= skipped;
        if (need.skip > 0) break;
        this.#advance(nothing);
      } else {
        const found = bytes.indexOf(need.until, position);
        position = found < 0 ? bytes.length : found + 1;
        if (found < 0) break;
        this.#advance(nothing);
      }
    }
    this.#pending = this.#need === undefined ? nothing : bytes.slice(position);
  }

  /** `true` if the file says that it is longer than the bytes so far. Most formats do not say. */
  get isCut(): boolean {
    const need = this.#need;
    if (need === undefined) return false;
    return !('read' in need && need.mayEnd === true);
  }
}
