import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { ConfigError, type Data, type DataObject, isObject, printJson } from '#contract';
import { joinPointer } from '../../config/index.ts';
import { jsonOf, textOf } from '../body.ts';
import type { Failure } from '../test.ts';
import { differences } from './differences.ts';
import { compilePattern } from './pattern.ts';

/** Checks a body. */
export type BodyCheck = (body: Uint8Array) => readonly Failure[];

/** The expectations of a body. */
export interface ExpectedBody {
  readonly body?: Data;
  readonly body_contains?: Data;
  readonly body_matches?: string;
  readonly body_schema?: Readonly<DataObject>;
  readonly jmespath?: Readonly<Record<string, Data>>;
}

const require = createRequire(import.meta.url);

/** Compiles the expectations of a body. @param pointer of the object that contains them. @throws ConfigError. */
export function bodyChecks(expected: ExpectedBody, pointer: string): BodyCheck[] {
  const checks: BodyCheck[] = [];
  const { body, body_contains: part, body_matches: source, body_schema: schema, jmespath = {} } = expected;
  if (body !== undefined) checks.push(equalCheck(body, joinPointer(pointer, 'body')));
  if (part !== undefined) checks.push(partCheck(part, joinPointer(pointer, 'body_contains')));
  if (source !== undefined) checks.push(matchCheck(source, joinPointer(pointer, 'body_matches')));
  if (schema !== undefined) checks.push(schemaCheck(schema, joinPointer(pointer, 'body_schema')));
  for (const [expression, value] of Object.entries(jmespath)) {
    checks.push(expressionCheck(expression, value, joinPointer(pointer, 'jmespath', expression)));
  }
  return checks;
}

function notJson(pointer: string, body: Uint8Array): Failure {
  return { pointer, message: 'body is not JSON', lines: [`+ ${firstOf(textOf(body))}`], actual: textOf(body) };
}

/** Shortens a long text. */
function firstOf(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…`.toWellFormed() : text;
}

function equalCheck(expected: Data, pointer: string): BodyCheck {
  return (body) => {
    if (typeof expected === 'string') {
      const text = textOf(body);
      if (text === expected) return [];
      const lines = [`- ${firstOf(expected)}`, `+ ${firstOf(text)}`];
      return [{ pointer, message: 'body differs', lines, actual: jsonOf(body) ?? text }];
    }
    const actual = jsonOf(body);
    if (actual === undefined) return [notJson(pointer, body)];
    const lines = differences(expected, actual);
    return lines.length === 0 ? [] : [{ pointer, message: 'body differs', lines, actual }];
  };
}

function partCheck(expected: Data, pointer: string): BodyCheck {
  return (body) => {
    const actual = jsonOf(body);
    if (actual === undefined) return [notJson(pointer, body)];
    const lines = differences(expected, actual, true);
    if (lines.length === 0) return [];
    return [{ pointer, message: 'body does not contain the expected part', lines, actual: partOf(expected, actual) }];
  };
}

/** Reduces an actual value to the keys of the expected value. */
function partOf(expected: Data, actual: Data): Data {
  if (!isObject(expected) || !isObject(actual)) return actual;
  const kept = Object.entries(actual).filter(([key]) => Object.hasOwn(expected, key));
  return Object.fromEntries(kept.map(([key, value]) => [key, partOf(expected[key]!, value)]));
}

function matchCheck(source: string, pointer: string): BodyCheck {
  const pattern = compilePattern(source, pointer);
  return (body) => {
    const text = textOf(body);
    if (pattern.test(text)) return [];
    return [{ pointer, message: `body does not match ${source}`, lines: [`+ ${firstOf(text)}`] }];
  };
}

function schemaCheck(schema: Readonly<DataObject>, pointer: string): BodyCheck {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const regExp = Object.assign((source: string) => compilePattern(source, pointer), { code: 'pattern' });
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false, code: { regExp: regExp as never } });
  addFormats.default(ajv);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError('TEST_SCHEMA', pointer, `not a valid JSON Schema: ${(cause as Error).message}`, { cause });
  }
  return (body) => {
    const actual = jsonOf(body);
    if (actual === undefined) return [notJson(pointer, body)];
    if (isValid(validate, actual)) return [];
    const lines = (validate.errors ?? []).map(
      ({ instancePath, message }: ErrorObject) => `+ ${instancePath} ${message}`,
    );
    return [{ pointer, message: 'body does not match the schema', lines }];
  };
}

/**
 * Returns whether a value is valid. It is not valid if the schema refers to itself endlessly, which exhausts the stack.
 */
function isValid(validate: ValidateFunction, value: Data): boolean {
  try {
    return validate(value) === true;
  } catch (error) {
    validate.errors = [{ instancePath: '', message: `cannot be checked: ${(error as Error).message}` } as ErrorObject];
    return false;
  }
}

function expressionCheck(expression: string, expected: Data, pointer: string): BodyCheck {
  const { compile, TreeInterpreter } =
    require('@jmespath-community/jmespath') as typeof import('@jmespath-community/jmespath');
  let tree: ReturnType<typeof compile>;
  try {
    tree = compile(expression);
  } catch (cause) {
    const message = `'${firstOf(expression)}' is not a valid JMESPath expression: ${(cause as Error).message}`;
    throw new ConfigError('TEST_EXPRESSION', pointer, message, { cause });
  }
  return (body) => {
    const text = textOf(body);
    if (jsonOf(body) === undefined) return [notJson(pointer, body)];
    try {
      const actual = (TreeInterpreter.search(tree, JSON.parse(text)) ?? null) as Data;
      const lines = differences(expected, JSON.parse(printJson(actual)));
      return lines.length === 0 ? [] : [{ pointer, message: `${expression} differs`, lines, actual }];
    } catch (error) {
      return [{ pointer, message: `${expression} failed: ${(error as Error).message}`, lines: [] }];
    }
  };
}
