import { invalidField } from './errors.ts';

/** Shorter sides of resolutions whose names don't contain it. */
const tiers: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 2160 };

interface Wanted {
  readonly size: string | undefined;
  readonly resolution: string | undefined;
}

/** Returns the shorter side of a resolution such as `720p`, `512` or `2K`. */
function shorterSide(resolution: string): number {
  const lines = /^(\d+)p?$/.exec(resolution)?.[1];
  const side = lines === undefined ? tiers[resolution] : Number(lines);
  if (side === undefined) throw invalidField('resolution');
  return side;
}

/** Returns width and height. Pixels take precedence over the resolution and the ratio. */
export function pixelSize({ size, resolution }: Wanted, ratio: string, usual: number) {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  if (width !== undefined) {
    if (resolution !== undefined) throw invalidField('resolution', 'does not match size');
    return { width: Number(width), height: Number(height) };
  }
  const tier = resolution ?? size;
  const side = tier === undefined || tier === 'auto' ? usual : shorterSide(tier);
  const [, across, down] = /^([\d.]+):([\d.]+)$/.exec(ratio) ?? ['', '1', '1'];
  const proportion = Number(across) / Number(down);
  return proportion >= 1
    ? { width: Math.round(side * proportion), height: side }
    : { width: side, height: Math.round(side / proportion) };
}
