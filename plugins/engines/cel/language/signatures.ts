import { type CelType, isList, isMap, isNumber, type ScalarType } from './types.ts';

/** Accepted argument: a type, or a class of types. */
type Accepts = ScalarType | 'number' | 'list' | 'map';

export interface Signature {
  readonly takes: readonly Accepts[];
  readonly gives: ScalarType;
}

const ordered = ['number number', 'string string', 'bool bool', 'bytes bytes', 'duration duration'];
const comparison = [...ordered, 'timestamp timestamp'].map((takes) => `${takes} -> bool`);
const same = (...types: readonly string[]) => types.map((type) => `${type} ${type} -> ${type}`);
const each = (gives: string, ...takes: readonly string[]) => takes.map((type) => `${type} -> ${gives}`);
const timePart = ['timestamp -> int', 'timestamp string -> int'];

/** Operators and functions, by the parser's names. */
const functions: Readonly<Record<string, readonly string[]>> = {
  '!_': ['bool -> bool'],
  '-_': ['int -> int', 'double -> double'],
  '_+_': [
    ...same('int', 'uint', 'double', 'string', 'bytes', 'duration'),
    'timestamp duration -> timestamp',
    'duration timestamp -> timestamp',
  ],
  '_-_': [
    ...same('int', 'uint', 'double', 'duration'),
    'timestamp timestamp -> duration',
    'timestamp duration -> timestamp',
  ],
  '_*_': same('int', 'uint', 'double'),
  '_/_': same('int', 'uint', 'double'),
  '_%_': same('int', 'uint'),
  '_<_': comparison,
  '_<=_': comparison,
  '_>_': comparison,
  '_>=_': comparison,
  '_&&_': ['bool bool -> bool'],
  '_||_': ['bool bool -> bool'],
  '@not_strictly_false': ['dyn -> bool'],
  size: each('int', 'string', 'bytes', 'list', 'map'),
  int: each('int', 'number', 'string', 'timestamp', 'duration'),
  uint: each('uint', 'number', 'string'),
  double: each('double', 'number', 'string'),
  bool: each('bool', 'bool', 'string'),
  string: each('string', 'string', 'bool', 'number', 'bytes', 'timestamp', 'duration'),
  bytes: each('bytes', 'bytes', 'string'),
  timestamp: each('timestamp', 'timestamp', 'string', 'int'),
  duration: each('duration', 'duration', 'string', 'int'),
  type: ['dyn -> type'],
  dyn: ['dyn -> dyn'],
};

/** Methods; the receiver is their first argument. */
const methods: Readonly<Record<string, readonly string[]>> = {
  size: functions.size!,
  contains: ['string string -> bool'],
  startsWith: ['string string -> bool'],
  endsWith: ['string string -> bool'],
  matches: ['string string -> bool'],
  getFullYear: timePart,
  getMonth: timePart,
  getDate: timePart,
  getDayOfMonth: timePart,
  getDayOfWeek: timePart,
  getDayOfYear: timePart,
  getHours: [...timePart, 'duration -> int'],
  getMinutes: [...timePart, 'duration -> int'],
  getSeconds: [...timePart, 'duration -> int'],
  getMilliseconds: [...timePart, 'duration -> int'],
};

type Table = ReadonlyMap<string, readonly Signature[]>;
type WrittenTable = Readonly<Record<string, readonly string[]>>;

/** The functions and methods that an expression may call. */
export interface Library {
  readonly functions: Table;
  readonly methods: Table;
}

/** The library of the language itself. */
export const language: Library = { functions: read(functions), methods: read(methods) };

/** Extends a library. Signatures are written as in `string int -> bool`; without a type before the arrow, the function has no arguments. */
export function extended(base: Library, more: { functions: WrittenTable; methods: WrittenTable }): Library {
  return {
    functions: new Map([...base.functions, ...read(more.functions)]),
    methods: new Map([...base.methods, ...read(more.methods)]),
  };
}

function read(table: WrittenTable): Table {
  const parse = (line: string): Signature => {
    const [takes, gives] = line.split('-> ').map((side) => side.trim()) as [string, ScalarType];
    return { takes: takes === '' ? [] : (takes.split(' ') as Accepts[]), gives };
  };
  return new Map(Object.entries(table).map(([name, lines]) => [name, lines.map(parse)]));
}

/** Result type of a call; undefined when no signature accepts the arguments. */
export function resultOf(signatures: readonly Signature[], given: readonly CelType[]): CelType | undefined {
  const fitting = signatures.filter(
    ({ takes }) => takes.length === given.length && takes.every((accepts, at) => accepted(accepts, given[at]!)),
  );
  const results = new Set(fitting.map(({ gives }) => gives));
  if (results.size <= 1) return [...results][0];
  return 'dyn';
}

function accepted(accepts: Accepts, given: CelType): boolean {
  if (given === 'dyn' || accepts === 'dyn' || accepts === given) return true;
  if (accepts === 'number') return isNumber(given);
  return accepts === 'list' ? isList(given) : accepts === 'map' && isMap(given);
}
