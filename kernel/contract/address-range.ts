import { BlockList, isIP } from 'node:net';

/** 4 or 6 for an IP address; 0 for any other text, one with a zone included, which means nothing on another machine. */
export function addressFamily(text: string): 0 | 4 | 6 {
  return text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6);
}

/** True for an address, `10.0.0.1`, and for a range in CIDR notation, `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const slash = text.indexOf('/');
  const version = addressFamily(slash < 0 ? text : text.slice(0, slash));
  if (version === 0 || slash < 0) return version !== 0;
  const bits = text.slice(slash + 1);
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Tells whether an address, without a zone, is in one of the ranges. @param ranges each as of `isAddressRange`. */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string?];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
