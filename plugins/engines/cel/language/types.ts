/** A type of the expression language; `dyn` is a type that is known only at evaluation. */
export type CelType = ScalarType | ListType | MapType;

export type ScalarType =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'duration'
  | 'timestamp'
  | 'type';

export interface ListType {
  readonly list: CelType;
}

export interface MapType {
  readonly key: CelType;
  readonly value: CelType;
}

export const listOf = (list: CelType): ListType => ({ list });
export const mapOf = (key: CelType, value: CelType): MapType => ({ key, value });

/** The type in readable notation, as in `map(string, list(string))`. */
export function typeName(type: CelType): string {
  if (typeof type === 'string') return type;
  return 'list' in type ? `list(${typeName(type.list)})` : `map(${typeName(type.key)}, ${typeName(type.value)})`;
}

export function isNumber(type: CelType): boolean {
  return type === 'int' || type === 'uint' || type === 'double';
}

export function isList(type: CelType): type is ListType {
  return typeof type === 'object' && 'list' in type;
}

export function isMap(type: CelType): type is MapType {
  return typeof type === 'object' && 'key' in type;
}

/** Whether values of the two types can be equal: numbers of different types can. */
export function comparable(one: CelType, other: CelType): boolean {
  if (one === 'dyn' || other === 'dyn') return true;
  if (isNumber(one) && isNumber(other)) return true;
  if (isList(one) && isList(other)) return comparable(one.list, other.list);
  if (isMap(one) && isMap(other)) return comparable(one.key, other.key) && comparable(one.value, other.value);
  return one === other;
}

/** The type of a value that has one of two types. */
export function joined(one: CelType, other: CelType): CelType {
  if (isList(one) && isList(other)) return listOf(joined(one.list, other.list));
  if (isMap(one) && isMap(other)) return mapOf(joined(one.key, other.key), joined(one.value, other.value));
  return one === other ? one : 'dyn';
}
