import { getPath, type PipeRequest, textOf } from '#contract';

/** A request with parameters; a client's request has no earlier responses. */
type WithParams = Pick<PipeRequest, 'params'> & Partial<Pick<PipeRequest, 'earlier'>>;

/**
 * Looks up a parameter for components: a path variable, `Id_user`, or a value of an earlier response of a sequential
 * endpoint, `Resp0_user.id`. Undefined if it does not exist.
 */
export function paramOf(request: WithParams, name: string): string | undefined {
  if (Object.hasOwn(request.params, name)) return request.params[name];
  const [, index, path] = /^Resp(\d{1,4})_(.+)$/s.exec(name) ?? [];
  if (index === undefined) return undefined;
  const data = request.earlier?.[Number(index)]?.data;
  const value = data ? getPath(data, path!.split('.')) : undefined;
  return value === undefined ? undefined : textOf(value);
}
