/** Maximum number of bytes of an unwanted body that are read so that its connection can be reused. */
export const MAX_DISCARDED_BYTES = 64 * 1024;

/** Maximum time for reading an unwanted body, in milliseconds. */
export const MAX_DISCARD_MS = 1000;
