import { type Data, isObject } from '#contract';

/** Keys that need no quotes: nothing else begins like them. */
const plain = /^[A-Za-z_$/][\w$/.-]*$/;
/** Words that some reader of YAML takes for something other than a text. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Data as YAML: objects and lists a line an entry, texts and numbers as JSON writes them. Ends with a line break. */
export function printYaml(data: Data): string {
  return isBlock(data) ? `${linesOf(data).join('\n')}\n` : `${JSON.stringify(data)}\n`;
}

function linesOf(data: Data[] | { [key: string]: Data }): string[] {
  if (Array.isArray(data)) {
    return data.flatMap((item) => {
      const [first = '', ...rest] = isBlock(item) ? linesOf(item) : [JSON.stringify(item)];
      return [`- ${first}`, ...indented(rest)];
    });
  }
  return Object.entries(data).flatMap(([key, value]) => {
    const name = plain.test(key) && !reserved.test(key) ? key : JSON.stringify(key);
    return isBlock(value) ? [`${name}:`, ...indented(linesOf(value))] : [`${name}: ${JSON.stringify(value)}`];
  });
}

function isBlock(data: Data): data is Data[] | { [key: string]: Data } {
  return Array.isArray(data) ? data.length > 0 : isObject(data) && Object.keys(data).length > 0;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
