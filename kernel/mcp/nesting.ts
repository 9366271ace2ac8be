/** Maximum nesting depth of arrays and objects in a message. */
export const MAX_LEVELS = 500;

const QUOTE = 34;
const BACKSLASH = 92;

/** Whether JSON is nested more than `MAX_LEVELS` deep; checked before it is parsed. */
export function isTooDeep(json: string): boolean {
  if (json.length <= 2 * MAX_LEVELS) return false;
  let levels = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    // Brackets and braces differ in one bit: [ and {, ] and }.
    else if ((code | 32) === 123 && ++levels > MAX_LEVELS) return true;
    else if ((code | 32) === 125) levels--;
  }
  return false;
}

/** @param start offset of a string. @returns offset of its closing quotation mark. */
function endOfText(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return json.length;
}
