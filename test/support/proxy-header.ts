const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** A PROXY protocol header of version 2. @param length length in the header; by default that of the block. */
export function binaryHeader(command: number, family: number, block: readonly number[], length = block.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, length >> 8, length & 255, ...block])]);
}
