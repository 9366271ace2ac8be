/** Initial capacity of a buffer, in bytes. */
const INITIAL_BYTES = 16 * 1024;

/** Maximum number of UTF-8 bytes per UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;

/**
 * Lines as bytes, back to back. A line is encoded when it is added, so that its strings can be freed. Strings that wait
 * longer survive two minor garbage collections; moving them to the old generation would cost a third of the CPU time of
 * a request.
 */
export class LineBuffer {
  readonly #limit: number;
  #bytes: Buffer;
  /**
   * Mark of each line: its length in bytes times two, plus one for a major line (WARNING or above), which is dropped
   * last.
   */
  #marks = new Uint32Array(256);
  #lines = 0;
  #size = 0;
  /** Total size of major lines, in bytes. */
  #majorSize = 0;

  /** @param limit maximum size, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(INITIAL_BYTES, limit));
  }

  get lines(): number {
    return this.#lines;
  }

  /** Size in bytes. */
  get size(): number {
    return this.#size;
  }

  /** The content, in insertion order; valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  clear(): void {
    this.#lines = 0;
    this.#size = 0;
    this.#majorSize = 0;
  }

  /**
   * Adds a line. When the buffer is full, the oldest minor lines are dropped first and then, for a major line, the
   * oldest of all.
   * @returns the number of dropped lines, including this one if it did not fit.
   */
  add(line: string, major: boolean): number {
    let dropped = 0;
    if (this.#size + line.length * MOST_BYTES_A_UNIT > this.#bytes.length) {
      const length = Buffer.byteLength(line);
      dropped = this.#makeRoom(length, major);
      if (this.#size + length > this.#limit) return dropped + 1;
      this.#grow(this.#size + length);
    }
    const length = this.#bytes.write(line, this.#size);
    if (this.#lines === this.#marks.length) this.#marks = doubled(this.#marks);
    this.#marks[this.#lines] = length * 2 + (major ? 1 : 0);
    this.#lines += 1;
    this.#size += length;
    if (major) this.#majorSize += length;
    return dropped;
  }

  #makeRoom(length: number, major: boolean): number {
    if (this.#size + length <= this.#limit || length > this.#limit) return 0;
    if (!major && this.#size === this.#majorSize) return 0;
    // Drops more lines than needed, so that not every new line has to search for lines to drop.
    const target = Math.max(0, this.#limit - (this.#limit >> 3) - length);
    const before = this.#lines;
    this.#dropOldest(target, false);
    if (major && this.#size + length > this.#limit) this.#dropOldest(target, true);
    return before - this.#lines;
  }

  #dropOldest(target: number, majorToo: boolean): void {
    const bytes = this.#bytes;
    const marks = this.#marks;
    let left = this.#size;
    let kept = 0;
    let to = 0;
    let from = 0;
    for (let at = 0; at < this.#lines; at++) {
      const mark = marks[at]!;
      const length = mark >> 1;
      const isMajor = (mark & 1) === 1;
      if (left > target && (majorToo || !isMajor)) {
        left -= length;
        if (isMajor) this.#majorSize -= length;
      } else {
        bytes.copyWithin(to, from, from + length);
        marks[kept++] = mark;
        to += length;
      }
      from += length;
    }
    this.#lines = kept;
    this.#size = to;
  }

  #grow(needed: number): void {
    let capacity = this.#bytes.length;
    if (needed <= capacity) return;
    while (capacity < needed) capacity *= 2;
    const bytes = Buffer.allocUnsafeSlow(Math.min(capacity, this.#limit));
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
  }
}

function doubled(marks: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(marks.length * 2);
  larger.set(marks);
  return larger;
}
