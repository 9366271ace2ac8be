/** Types of tensors. */
const FLOAT = 1;
const INT64 = 7;
const BOOL = 9;

/** Writes the types of Protocol Buffers fields that models contain. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

const number = (field: number, value: number) => Buffer.concat([varint(field << 3), varint(value)]);

function part(field: number, ...content: readonly (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(content.map((item) => Buffer.from(item as string)));
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
}

type Shape = readonly (number | string)[];

const dimension = (size: number | string) => part(1, typeof size === 'string' ? part(2, size) : number(1, size));
const value = (field: number, name: string, type: number, shape: Shape) =>
  part(field, part(1, name), part(2, part(1, number(1, type), part(2, ...shape.map(dimension)))));
const tensor = (name: string, type: number, shape: readonly number[], raw: Buffer) =>
  part(5, ...shape.map((size) => number(1, size)), number(2, type), part(8, name), part(9, raw));
const node = (op: string, inputs: readonly string[], outputs: readonly string[], ...attributes: readonly Buffer[]) =>
  part(1, ...inputs.map((name) => part(1, name)), ...outputs.map((name) => part(2, name)), part(4, op), ...attributes);
const attribute = (name: string, type: number, content: Buffer) => part(5, part(1, name), content, number(20, type));

function model(...graph: readonly Buffer[]): Buffer {
  return Buffer.concat([number(1, 8), part(7, part(2, 'test'), ...graph), part(8, part(1, ''), number(2, 13))]);
}

const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => value(11, name, INT64, ['b', 't']));
const tableOf = (rows: readonly (readonly number[])[]) =>
  tensor('table', FLOAT, [rows.length, rows[0]!.length], Buffer.from(new Float32Array(rows.flat()).buffer));

/** An ONNX model that looks the vector of each token up in a table. */
export function tokenVectors(rows: readonly (readonly number[])[]): Buffer {
  return model(
    node('Gather', ['table', 'input_ids'], ['last_hidden_state']),
    ...[tableOf(rows), ...inputs],
    value(12, 'last_hidden_state', FLOAT, ['b', 't', rows[0]!.length]),
  );
}

/** A model that also computes the mean of these vectors. */
export function textVectors(rows: readonly (readonly number[])[]): Buffer {
  const axes = Buffer.concat([number(8, 1)]);
  return model(
    node('Gather', ['table', 'input_ids'], ['last_hidden_state']),
    node(
      ...(['ReduceMean', ['last_hidden_state'], ['sentence_embedding']] as const),
      ...[attribute('axes', 7, axes), attribute('keepdims', 2, number(3, 0))],
    ),
    ...[tableOf(rows), ...inputs],
    value(12, 'last_hidden_state', FLOAT, ['b', 't', rows[0]!.length]),
    value(12, 'sentence_embedding', FLOAT, ['b', rows[0]!.length]),
  );
}

/** A model that never ends. */
export function endless(): Buffer {
  const body = part(
    6,
    part(2, 'body'),
    node('Identity', ['condition'], ['next_condition']),
    node('Identity', ['vector'], ['next_vector']),
    ...[value(11, 'step', INT64, []), value(11, 'condition', BOOL, []), value(11, 'vector', FLOAT, [1, 1, 1])],
    ...[value(12, 'next_condition', BOOL, []), value(12, 'next_vector', FLOAT, [1, 1, 1])],
  );
  return model(
    node('Loop', ['', 'always', 'start'], ['last_hidden_state'], attribute('body', 5, body)),
    tensor('always', BOOL, [], Buffer.from([1])),
    tensor('start', FLOAT, [1, 1, 1], Buffer.from(new Float32Array([1]).buffer)),
    ...inputs,
    value(12, 'last_hidden_state', FLOAT, [1, 1, 1]),
  );
}
