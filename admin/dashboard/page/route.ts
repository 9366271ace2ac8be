import { useEffect, useState } from 'preact/hooks';

/** The view that the address shows: `#/endpoint?id=GET%20%2F` has the name `endpoint` and the parameter `id`. */
export interface Route {
  readonly name: string;
  readonly parameters: URLSearchParams;
}

function current(): Route {
  const [name = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { name, parameters: new URLSearchParams(query) };
}

/** The current view; follows the address. */
export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const follow = () => setRoute(current());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Address of a view. */
export function linkTo(name: string, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return query === '' ? `#/${name}` : `#/${name}?${query}`;
}
