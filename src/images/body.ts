import { check, checkInteger, checkModel, checkNumber, checkParams, checkText } from '../check.ts';
import type { ImageGenerateParamsBase } from './types.ts';

/**
 * Checks what images are made from.
 *
 * @param purpose - What the prompt is for.
 */
export function checkImage(method: string, params: ImageGenerateParamsBase, purpose: string): void {
  checkParams(`images.${method}`, params);
  const { model, prompt, n, size, output_compression: compression } = params;
  if (model !== undefined && model !== null) checkModel(model);
  checkText('prompt', prompt, purpose);
  checkInteger('n', n ?? 1, 1);
  checkNumber('output_compression', compression ?? 0);
  const written = String(size).replaceAll('×', 'x');
  const problem = `has a multiplication sign, which the gateway refuses; write "${written}".`;
  check(!String(size).includes('×'), 'size', problem);
}

/** Checks what new images are made from. */
export function checkNewImage(params: ImageGenerateParamsBase): void {
  checkImage('generate', params, 'a description of the image');
}
