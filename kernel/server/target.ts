/** A request target taken apart: nothing is decoded. */
export interface Target {
  readonly path: string;
  /** Without `?`. */
  readonly search: string;
}

/** Splits origin-form and absolute-form targets; null for anything a gateway has no answer to. */
export function parseTarget(target: string): Target | null {
  let rest = target;
  if (rest.charCodeAt(0) !== 47) {
    const absolute = /^https?:\/\/[^/?#]+(.*)$/i.exec(rest);
    if (!absolute) return null;
    rest = absolute[1]!.startsWith('/') ? absolute[1]! : `/${absolute[1]!}`;
  }
  if (rest.includes('#')) return null;
  const mark = rest.indexOf('?');
  return mark < 0 ? { path: rest, search: '' } : { path: rest.slice(0, mark), search: rest.slice(mark + 1) };
}
