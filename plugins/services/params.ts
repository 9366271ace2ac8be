import { getPath, type PipeRequest, textOf } from '#contract';

/** A request with parameters; that of a client has no earlier answers. */
type WithParams = Pick<PipeRequest, 'params'> & Partial<Pick<PipeRequest, 'earlier'>>;

/**
 * A parameter as components see it: a path variable, `Id_user`, or a value of an earlier answer of a sequential endpoint,
 * `Resp0_user.id`. Undefined when there is none.
 */
export function paramOf(request: WithParams, name: string): string | undefined {
  if (Object.hasOwn(request.params, name)) return request.params[name];
  const [, index, path] = /^Resp(\d{1,4})_(.+)$/s.exec(name) ?? [];
  if (index === undefined) return undefined;
  const data = request.earlier?.[Number(index)]?.data;
  const value = data ? getPath(data, path!.split('.')) : undefined;
  return value === undefined ? undefined : textOf(value);
}
