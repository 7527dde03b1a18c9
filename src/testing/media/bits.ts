/** Writes values bit by bit, most significant first, with the codes of H.264. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  /** Writes the lowest `count` bits of a value. */
  bits(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit -= 1) {
      this.#current = (this.#current << 1) | ((value >>> bit) & 1);
      this.#filled += 1;
      if (this.#filled === 8) this.#flush();
    }
    return this;
  }

  /** Writes an unsigned Exp-Golomb code. */
  unsigned(value: number): this {
    const length = 32 - Math.clz32(value + 1);
    return this.bits(0, length - 1).bits(value + 1, length);
  }

  /** Writes a signed Exp-Golomb code. */
  signed(value: number): this {
    return this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Ends with a one and zeros up to the next byte boundary. */
  trailing(): this {
    this.bits(1, 1);
    return this.align();
  }

  /** Fills the last byte with zeros. */
  align(): this {
    return this.#filled === 0 ? this : this.bits(0, 8 - this.#filled);
  }

  /** Number of complete bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  #flush(): void {
    this.#bytes.push(this.#current);
    this.#current = 0;
    this.#filled = 0;
  }
}
