import { type Node, type ParseError, parse, parseTree, printParseErrorCode, stripComments } from 'jsonc-parser';
import { parseExact } from '#contract';
import { duplicateKeys } from './duplicate-keys.ts';
import type { Finder, Stretch } from './position.ts';
import type { Format, TextFault } from './text-format.ts';

/** JSON with exact numbers. Comments are tolerated and reported; a key that stands twice is a mistake. */
export const json: Format = {
  parse(text) {
    const { data, hadComments } = read(text);
    const faults = duplicateKeys(hadComments ? stripComments(text, ' ') : text).map<TextFault>(
      ({ pointer, stretch, key }) => ({
        code: 'CONFIG_DUPLICATE_KEY',
        pointer,
        stretch,
        message: `key '${key}' stands twice in one object`,
      }),
    );
    return { data, faults, hadComments };
  },
  finder: (text) => jsonFinder(parseTree(text)),
};

function read(text: string): { data: unknown; hadComments: boolean } {
  try {
    return { data: parseExact(text), hadComments: false };
  } catch (error) {
    const errors: ParseError[] = [];
    parse(text, errors);
    const [first] = errors;
    if (first) throw fault(describe(first), { start: first.offset, end: first.offset + first.length });
    const bare = stripComments(text, ' ');
    if (bare === text) throw fault(String((error as Error).message), place(error as Error));
    try {
      return { data: parseExact(bare), hadComments: true };
    } catch (inner) {
      throw fault((inner as Error).message, place(inner as Error));
    }
  }
}

function fault(message: string, stretch: Stretch): SyntaxError & { stretch: Stretch } {
  return Object.assign(new SyntaxError(message), { stretch });
}

/** `CommaExpected` to `comma expected`. */
function describe(error: ParseError): string {
  return printParseErrorCode(error.error)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

function place(error: Error): Stretch {
  const offset = Number(/at position (\d+)/.exec(error.message)?.[1] ?? 0);
  return { start: offset, end: offset };
}

function jsonFinder(root: Node | undefined): Finder {
  return (steps, part) => {
    let node = root;
    let key: Node | undefined;
    for (const step of steps) {
      key = undefined;
      if (node?.type === 'array') {
        node = node.children?.[Number(step)];
      } else {
        const property: Node | undefined = node?.children?.findLast((child) => child.children?.[0]?.value === step);
        key = property?.children?.[0];
        node = property?.children?.[1];
      }
      if (!node) return undefined;
    }
    const found = part === 'key' && key ? key : node;
    return found && { start: found.offset, end: found.offset + found.length };
  };
}
