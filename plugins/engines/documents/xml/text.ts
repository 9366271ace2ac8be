const simpleName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

const nameStart =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const namePart = `${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`;
const noNamePart = new RegExp(`[^${namePart}]`, 'gu');
const noNameStart = new RegExp(`^(?![${nameStart}])`, 'u');

/** Converts a key to the nearest XML name: characters not allowed in names become `_`, which also fixes an invalid first character. */
export function xmlName(key: string): string {
  return simpleName.test(key) ? key : key.replace(noNamePart, '_').replace(noNameStart, '_');
}

const special = /[&<>"'\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/;
const inText = /[&<>"'\r\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;
const inAttribute = /[&<>"'\r\n\t\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;

/** Escapes text between tags. A carriage return is written as a reference, because readers would change it. */
export function elementText(text: string): string {
  return special.test(text) ? text.replace(inText, escaped) : text;
}

/** Escapes text in a double-quoted attribute; line breaks and tabs become references, because readers would change them. */
export function attributeText(text: string): string {
  return text.replace(inAttribute, escaped);
}

function escaped(character: string): string {
  switch (character) {
    case '&':
      return '&amp;';
    case '<':
      return '&lt;';
    case '>':
      return '&gt;';
    case '"':
      return '&quot;';
    case "'":
      return '&apos;';
    case '\r':
      return '&#xD;';
    case '\n':
      return '&#xA;';
    case '\t':
      return '&#x9;';
    default:
      return '\ufffd';
  }
}

const blank = ' \t\r\n';

/** Trims XML white space; a no-break space is kept. */
export function trimXml(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && blank.includes(text[start]!)) start++;
  while (end > start && blank.includes(text[end - 1]!)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}
