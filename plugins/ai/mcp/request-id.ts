import { type Call, type DataObject, getKey, isObject, requestIdSlot } from '#contract';

/** Adds the ID of the HTTP request to the `data` of a JSON-RPC error, if requests have IDs. */
export function withRequestId(message: DataObject, call: Call): DataObject {
  const id = call.get(requestIdSlot);
  const error = id === undefined ? undefined : getKey(message, 'error');
  if (id === undefined || !isObject(error)) return message;
  const data = getKey(error, 'data');
  return { ...message, error: { ...error, data: { ...(isObject(data) && data), request_id: id } } };
}
