// The prime is 2^88 + 0x13b: the product is the product with the short factor, plus the lowest 40 bits shifted left by
// 88.
const SHORT_FACTOR = 0x13b;
const OFFSET_BASIS = [0x6c62272e, 0x07bb0142, 0x62b82175, 0x6295c58d] as const;

/**
 * 128-bit FNV-1 as 32 lowercase hexadecimal digits. Not suitable for secrets; supported to read existing key hashes.
 */
export function fnv128(bytes: Uint8Array): string {
  let [a, b, c, d] = OFFSET_BASIS as readonly number[] as [number, number, number, number];
  for (const byte of bytes) {
    // The limbs have 32 bits, most significant first. All intermediate values are exact.
    const low = d * SHORT_FACTOR;
    const second = c * SHORT_FACTOR + Math.floor(low / 0x1_0000_0000);
    const third = b * SHORT_FACTOR + Math.floor(second / 0x1_0000_0000) + ((d * 0x100_0000) % 0x1_0000_0000);
    const high =
      a * SHORT_FACTOR + Math.floor(third / 0x1_0000_0000) + ((c * 0x100_0000) % 0x1_0000_0000) + Math.floor(d / 0x100);
    a = high >>> 0;
    b = third >>> 0;
    c = second >>> 0;
    d = ((low >>> 0) ^ byte) >>> 0;
  }
  return [a, b, c, d].map((limb) => limb.toString(16).padStart(8, '0')).join('');
}
