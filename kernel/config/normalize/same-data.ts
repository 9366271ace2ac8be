import { inheritsMethod } from '#contract';

/** True for equal plain data with keys in the same order, which matters to some components. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => isSameData(item, other[at]));
  }
  if (JSON.isRawJSON(one) !== JSON.isRawJSON(other)) return false;
  const keys = Object.keys(one);
  const others = Object.keys(other);
  if (keys.length !== others.length || marked(one) !== marked(other)) return false;
  return keys.every(
    (key, at) => key === others[at] && isSameData((one as never)[key] as unknown, (other as never)[key] as unknown),
  );
}

/** Returns the mark of a backend without a method: a property whose key is a symbol, which comparisons ignore. */
function marked(value: object): unknown {
  return (value as { readonly [inheritsMethod]?: true })[inheritsMethod];
}
