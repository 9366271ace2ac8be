/** User-facing message for a parser error, with a hint. */
export type Words = readonly [message: string, hint?: string];

/** Messages by parser code; if a code covers several errors, the first entry that matches the parser's message applies. */
const words: Readonly<Record<string, readonly (readonly [theirs: RegExp, ...Words])[]>> = {
  TAB_AS_INDENT: [[/^/, 'a tab cannot indent', 'write spaces']],
  BAD_DIRECTIVE: [[/^/, 'unknown directive', 'remove the line']],
  BLOCK_AS_IMPLICIT_KEY: [
    [/sequence/, 'a list cannot begin here', 'start a new line, under a separate key'],
    [/^/, 'a second key cannot begin here', 'put it on a separate line, or quote the value'],
  ],
  MULTILINE_IMPLICIT_KEY: [
    [/^/, "a key must be followed by ':' on the same line", "write ':' and a space after the key"],
  ],
  MULTIPLE_DOCS: [[/^/, 'a second document begins here', "remove the line '---'"]],
  KEY_OVER_1024_CHARS: [[/^/, 'a key cannot be longer than 1024 characters']],
  BAD_INDENT: [
    [
      /sequence items/,
      'this item of a list is not indented like those above it',
      "begin this item in the column of the other '-'",
    ],
    [/mapping items/, 'this key is not indented like those above it', 'begin this key in the same column'],
    [/^/, 'this line is not indented deeply enough', 'indent it deeper than the key it belongs to'],
  ],
  MISSING_CHAR: [
    [
      /Sequence item/,
      'this line is neither an item of the list above nor indented like the keys of its last item',
      "begin the line with '- ', or in the column of those keys",
    ],
    [/map values/, "this key has no ':'", "write ':' and a space after it"],
    [/^Comments/, "white space is missing before '#'", "write a space before '#', or the value in quotes"],
    [/Missing , or :/, 'a comma or a colon is missing before this'],
    [/Missing ,/, 'a comma is missing before this'],
    [/space after :/, "a space is missing after ':'"],
    [/^Tags and anchors/, 'a space is missing after this tag or anchor'],
    [/^Block collection/, "the document cannot begin on the line of '---'", 'begin a new line'],
    [/directives-end/, "the line '---' is missing after the directives"],
  ],
  UNEXPECTED_TOKEN: [
    [/^Block scalar/, "the text after '|' or '>' begins on the next line", 'begin a new line'],
    [/same line with key/, 'a list cannot begin on the line of its key', "start a new line before the '-'"],
    [/^Unexpected flow-\w+-end/, 'this bracket closes nothing', 'remove it'],
    [/Unexpected ,|empty item/, 'a value is missing before this comma', 'remove the comma'],
    [/verbatim tag/i, 'this tag is not closed', 'end it with >'],
    [
      /at node end/,
      'this does not belong to the value before it',
      'correct its indentation, or put the whole value in quotes',
    ],
    [/^/, 'not allowed here'],
  ],
  BAD_SCALAR_START: [[/^/, 'a value cannot begin with this character', 'put the value in quotes']],
  BAD_DQ_ESCAPE: [[/^/, 'not a valid escape in YAML', 'write \\\\ for a backslash, or the text in single quotes']],
  BLOCK_IN_FLOW: [
    [/^/, 'inside brackets, this requires its own brackets', 'add brackets, or a comma if it is missing before this'],
  ],
  MULTIPLE_ANCHORS: [[/^/, 'a value can have only one anchor', 'remove one']],
  MULTIPLE_TAGS: [[/^/, 'a value can have only one tag', 'remove one']],
  BAD_ALIAS: [[/^/, "a name must follow '*' or '&'", 'put the value in quotes if it is a text']],
  ALIAS_PROPS: [[/^/, 'an alias can have neither anchor nor tag', 'remove it']],
  BAD_PROP_ORDER: [[/^/, "an anchor or tag must follow '-', '?' or ':'"]],
  TAG_RESOLVE_FAILED: [[/^/, 'the tag is unknown, or does not match the value', 'remove the tag']],
  BAD_COLLECTION_TYPE: [[/^/, 'this tag does not match the value', 'remove the tag']],
  NON_STRING_KEY: [[/^/, 'a key must be a plain value']],
};

/** Rewords a parser error for operators. @param message the parser's message. */
export function wordsFor(code: string, message: string): Words {
  const [, ...ours] = words[code]?.find(([theirs]) => theirs.test(message)) ?? [null, 'not valid YAML'];
  return ours;
}
