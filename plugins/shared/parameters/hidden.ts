import { type Call, type ClientRequest, Query, servedSlot } from '#contract';

/** Masks the values of query parameters in everything that is logged about a request. */
export function hideParameters({ query, search }: ClientRequest, call: Call, names: ReadonlySet<string>): void {
  for (const name of names) {
    if (!query.has(name)) continue;
    const pairs = search.split('&').map((pair) => {
      const [parameter] = Query.parse(pair);
      return parameter && names.has(parameter[0]) ? `${pair.split('=')[0]}=***` : pair;
    });
    call.set(servedSlot, { ...call.get(servedSlot), search: pairs.join('&') });
    return;
  }
}
