import * as fc from 'fast-check';

/**
 * Any text: control characters, lone surrogates, and more ASCII than random text has.
 *
 * fast-check's own `unit: 'binary'` takes seconds to build on a busy machine.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const unit = fc.oneof(fc.nat(0x7f), fc.nat(0xff_ff));
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}
