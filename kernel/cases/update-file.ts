import { copyData, type Data, type DataObject, isObject, setKey } from '#contract';
import { parsePointer, replaceFile, rewriteDocument, valueAt } from '../config/index.ts';
import { jsonOf, textOf } from './body.ts';
import type { TestFile } from './read-tests.ts';
import type { TestResult } from './run-tests.ts';

/**
 * Writes the actual responses into a file as expectations: unmet ones get the actual value, and tests without
 * expectations get status and body. Comments and layout of unchanged parts remain.
 * @returns the number of expectations that were written. @throws ConfigErrors EDIT_IMPOSSIBLE; the file system's errors.
 */
export async function updateFile(file: TestFile, results: readonly TestResult[]): Promise<number> {
  const data = copyData(file.document.data as Data) as DataObject;
  let count = 0;
  for (const { test, failures, response } of results.filter(isUpdatable)) {
    const { pointer, isWritten } = test.expect;
    const expect = isWritten ? valueAt(data, parsePointer(pointer)) : undefined;
    if (response && (!isWritten || (isObject(expect) && Object.keys(expect).length === 0))) {
      const { status, body } = response;
      const text = textOf(body);
      const written: DataObject = { [file.isSpec ? 'status_code' : 'status']: status };
      if (text !== '') setKey(written, 'body', jsonOf(body) ?? text);
      replace(data, pointer, written);
      count += 1;
      continue;
    }
    for (const { pointer: at, actual } of failures) {
      if (actual === undefined) continue;
      replace(data, at, actual);
      count += 1;
    }
  }
  if (count > 0) await replaceFile(file.path, rewriteDocument(file.document, data).text);
  return count;
}

/** Whether the response of a test can become its expectation: not after a request without a mock, a refused connection or a timeout. */
export function isUpdatable({ test, failures }: TestResult): boolean {
  return failures.every(({ pointer }) => pointer !== test.pointer);
}

function replace(data: DataObject, pointer: string, value: Data): void {
  const steps = parsePointer(pointer);
  const holder = valueAt(data, steps.slice(0, -1));
  const last = steps.at(-1)!;
  if (Array.isArray(holder)) holder[Number(last)] = value;
  else if (isObject(holder)) setKey(holder, last, value);
}
