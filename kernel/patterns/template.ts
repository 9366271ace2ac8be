/** Inserts the groups of a match into a template; the match itself is group 0. */
export type Expand = (groups: readonly (string | undefined)[]) => string;

const reference = /\$(?:(?<dollar>\$)|\{(?<braced>[\p{L}\p{Nd}_]+)\}|(?<plain>[\p{L}\p{Nd}_]+))/gu;

/**
 * Parses the template of a replacement: `$1`, `${1}`, `$name`, `${name}`, `$$`. A dollar before anything else is
 * literal; a group that does not exist is replaced with nothing.
 * @param count groups of the expression, without the match itself.
 * @param names number of each named group.
 */
export function readTemplate(template: string, count: number, names: Readonly<Record<string, number>>): Expand {
  const pieces: (string | number)[] = [];
  let end = 0;
  for (const { 0: written, index, groups } of template.matchAll(reference)) {
    const { dollar, braced, plain } = groups!;
    pieces.push(template.slice(end, index), dollar ?? groupOf((braced ?? plain)!, count, names));
    end = index + written.length;
  }
  pieces.push(template.slice(end));
  return (results) => {
    let text = '';
    for (const segment of pieces) text += typeof segment === 'string' ? segment : (results[segment] ?? '');
    return text;
  };
}

/** @returns the group's number, or an empty string if it does not exist. */
function groupOf(name: string, count: number, names: Readonly<Record<string, number>>): number | string {
  if (/^(?:0|[1-9]\d*)$/.test(name)) return Number(name) <= count ? Number(name) : '';
  return Object.hasOwn(names, name) ? names[name]! : '';
}
