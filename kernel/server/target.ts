/** A request target taken apart: nothing is decoded. */
export interface Target {
  readonly path: string;
  /** Without `?`. */
  readonly search: string;
  /** The authority of an absolute target; undefined for the usual kind. */
  readonly host: string | undefined;
}

/** Splits origin-form and absolute-form targets; null for anything a gateway has no answer to. */
export function parseTarget(target: string): Target | null {
  let rest = target;
  let host: string | undefined;
  if (rest.charCodeAt(0) !== 47) {
    const absolute = /^https?:\/\/([\w.\-:[\]%~!$&'()*+,;=]+)(|[/?].*)$/i.exec(rest);
    if (!absolute) return null;
    host = absolute[1]!;
    rest = absolute[2]!.startsWith('/') ? absolute[2]! : `/${absolute[2]!}`;
  }
  if (rest.includes('#')) return null;
  const mark = rest.indexOf('?');
  return mark < 0
    ? { path: rest, search: '', host }
    : { path: rest.slice(0, mark), search: rest.slice(mark + 1), host };
}
