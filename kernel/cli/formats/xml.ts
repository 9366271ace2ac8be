/** Characters that XML 1.0 does not permit, even escaped. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text of an XML element. */
export function escaped(content: string): string {
  return content
    .replaceAll(forbidden, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Quoted value of an XML attribute. */
export function quoted(content: string): string {
  return `"${escaped(content).replaceAll('\n', '&#10;').replaceAll('\r', '&#13;').replaceAll('\t', '&#9;')}"`;
}
