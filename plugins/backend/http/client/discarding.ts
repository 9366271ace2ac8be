/** Bytes of a body that nobody wants which are read so that its connection can be used again. */
export const MAX_DISCARDED_BYTES = 64 * 1024;

/** How long such a body may take, in milliseconds. */
export const MAX_DISCARD_MS = 1000;
