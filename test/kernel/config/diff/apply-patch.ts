import type { Data, DataObject } from '#contract';
import { cloneData, type PatchOperation, parsePointer } from '../../../../kernel/config/index.ts';

/** Applies a patch according to RFC 6902; a missing target is an error. */
export function applyPatch(data: DataObject, patch: readonly PatchOperation[]): DataObject {
  const result = cloneData(data);
  for (const operation of patch) applyOperation(result, operation);
  return result;
}

function applyOperation(data: DataObject, operation: PatchOperation): void {
  const steps = parsePointer(operation.path);
  const last = steps.pop()!;
  const holder = steps.reduce<Data>((value, step) => (value as DataObject)[step]!, data);
  if (!Array.isArray(holder)) {
    const object = holder as DataObject;
    if (operation.op !== 'add' && !Object.hasOwn(object, last)) throw new Error(`${operation.path} is not there`);
    if (operation.op === 'remove') delete object[last];
    else object[last] = operation.value;
    return;
  }
  const index = Number(last);
  const isThere = index < holder.length + (operation.op === 'add' ? 1 : 0);
  if (!isThere) throw new Error(`${operation.path} is not there`);
  if (operation.op === 'remove') holder.splice(index, 1);
  else holder.splice(index, operation.op === 'add' ? 0 : 1, operation.value);
}
