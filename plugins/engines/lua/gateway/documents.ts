import { type Data, isObject, parseExact, printJson } from '#contract';
import { parseCsv, printCsv } from '../../documents/csv.ts';
import { readXml } from '../../documents/xml/reader.ts';
import { writeXml } from '../../documents/xml/writer.ts';
import { parseYaml } from '../../documents/yaml/reader.ts';
import { printYaml } from '../../documents/yaml/writer.ts';
import { currentBudget, MAX_STRING_BYTES, spendMemory } from '../budget.ts';
import { pushData, readData } from '../data.ts';
import type { Tables } from '../engine.ts';
import { bytesOf, type LuaFunction, type LuaState, pushText, raise, textArg } from '../fengari.ts';

/** Estimated number of bytes of decoded data per byte of text. */
const DATA_FACTOR = 4;

interface Format {
  /** Name of the format in messages. */
  readonly name: string;
  /** Longest text that is parsed, in bytes: what the parser handles in about a tenth of a second. */
  readonly limit: number;
  parse(text: string): Data;
  print(data: Data): string;
}

const formats: Readonly<Record<string, Format>> = {
  json: { name: 'JSON', limit: MAX_STRING_BYTES, parse: parseExact, print: printJson },
  yaml: { name: 'YAML', limit: 64 * 1024, parse: parseYaml, print: printYaml },
  xml: { name: 'XML', limit: 512 * 1024, parse: (text) => readXml(bytesOf(text), false), print: printXml },
  csv: { name: 'CSV', limit: 1024 * 1024, parse: parseCsv, print: printCsv },
};

/** `json.marshal` and `json.unmarshal`, and the same pair for YAML, XML and CSV. */
export const documentTables: Tables = Object.fromEntries(
  Object.entries(formats).map(([table, format]) => [
    table,
    { marshal: (L) => marshal(L, format), unmarshal: (L) => unmarshal(L, format) } satisfies Record<
      string,
      LuaFunction
    >,
  ]),
);

function printXml(data: Data): string {
  if (!isObject(data)) throw new Error('a document must be a table whose only key is the root element');
  return String(writeXml(data).body);
}

function marshal(L: LuaState, { name, print }: Format): number {
  const data = readData(L, 1, false) ?? null;
  let text: string;
  try {
    text = print(data);
  } catch (error) {
    return raise(L, `the value cannot be written as ${name}: ${(error as Error).message}`);
  }
  if (text.length > MAX_STRING_BYTES) raise(L, 'too much data');
  pushText(L, text);
  currentBudget()?.look();
  return 1;
}

function unmarshal(L: LuaState, { name, limit, parse }: Format): number {
  const text = textArg(L, 1);
  if (text.length > limit) raise(L, `${name} must not have more than ${limit} bytes`);
  spendMemory(Math.min(text.length * DATA_FACTOR, MAX_STRING_BYTES));
  let data: Data;
  try {
    data = parse(text);
  } catch (error) {
    return raise(L, `not valid ${name}: ${(error as Error).message}`);
  }
  currentBudget()?.look();
  return pushData(L, data);
}
