/** Maximum number of bytes of variable-length 32-bit and 64-bit integers, with seven bits per byte. */
const INT_BYTES = 5;
const LONG_BYTES = 10;
/** Length of an absent key, value or header. */
const NULL = -1;

/** The records of a batch, whose number must match the declared one. */
class RecordBytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Checks the records of a batch. @throws Error with the reason. */
  demand(count: number, lastOffsetDelta: number): void {
    let before = -1;
    for (let record = 0; record < count; record++) {
      const length = this.#int();
      const end = this.#at + length;
      if (length < 0 || end > this.#bytes.length) throw new Error('a record is longer than its batch');
      this.#skip(1);
      this.#skipLong();
      const offsetDelta = this.#int();
      if (offsetDelta <= before || offsetDelta > lastOffsetDelta)
        throw new Error('the offset of a record is not valid');
      before = offsetDelta;
      this.#skipBytes();
      this.#skipBytes();
      const headers = this.#int();
      if (headers < 0) throw new Error('the header count of a record is negative');
      for (let header = 0; header < headers; header++) {
        this.#skipBytes();
        this.#skipBytes();
      }
      if (this.#at !== end) throw new Error('the length of a record is wrong');
    }
    if (this.#at !== this.#bytes.length) throw new Error('the record count of the batch is wrong');
  }

  #skip(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw new Error('a record is truncated');
  }

  #skipBytes(): void {
    const length = this.#int();
    if (length < NULL) throw new Error('the length of a part of a record is negative');
    if (length > 0) this.#skip(length);
  }

  #skipLong(): void {
    const first = this.#at;
    while (this.#bytes[this.#at]! >= 0x80) this.#at++;
    this.#skip(1);
    if (this.#at - first > LONG_BYTES) throw new Error('an encoded integer in a record is too long');
  }

  #int(): number {
    let value = 0;
    const first = this.#at;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at]!;
      this.#skip(1);
      if (this.#at - first > INT_BYTES) throw new Error('an encoded integer in a record is too long');
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
  }
}

/** @param bytes decompressed records. @throws Error with the reason if they cannot be read. */
export function demandReadable(bytes: Buffer, count: number, lastOffsetDelta: number): void {
  if (count < 0 || lastOffsetDelta < 0) throw new Error('the numbers of a batch are not valid');
  new RecordBytes(bytes).demand(count, lastOffsetDelta);
}
