import { type ConfigErrorOptions, paramKey } from '#contract';

export interface PathFault extends Pick<ConfigErrorOptions, 'hint' | 'fix' | 'within'> {
  readonly message: string;
}

const VARIABLE_NAME = /^[\w-]+$/;

/**
 * What is wrong with the path of an endpoint: where `/`, `*`, `?`, `&`, `%` and `:` may stand, and what a `{variable}`
 * may look like.
 * @param gluedVariables a variable may end a word, as in `/file.{ext}`, as the last thing of the path.
 */
export function pathFaults(path: string, gluedVariables: boolean): PathFault[] {
  if (!path.startsWith('/')) {
    return [{ message: `path '${path}' must start with '/'`, hint: `/${path}`, fix: { value: `/${path}` } }];
  }
  if (path === '/*') {
    return [{ message: "the root wildcard '/*' is not supported", hint: '/__catchall' }];
  }
  return [...forbiddenCharacters(path), ...variableFaults(path, gluedVariables)];
}

function forbiddenCharacters(path: string): PathFault[] {
  const faults: PathFault[] = [];
  for (const mark of ['?', '&', '%']) {
    const start = path.indexOf(mark);
    if (start < 0) continue;
    const hint = mark === '?' ? "query parameters are listed in 'input_query_strings'" : undefined;
    faults.push({ message: `path '${path}' must not contain '${mark}'`, hint, within: { start, end: start + 1 } });
  }
  const star = path.indexOf('*');
  if (star >= 0 && (star !== path.length - 1 || path[star - 1] !== '/')) {
    const within = { start: star, end: star + 1 };
    faults.push({ message: `path '${path}': '*' is only allowed at the end, as in '/*'`, within });
  }
  if (path.includes(':')) {
    const hint = path.replaceAll(/\/:([\w-]+)/g, '/{$1}');
    const start = path.indexOf(':');
    const isMeant = !hint.includes(':');
    faults.push({
      message: `path '${path}': colons are not supported`,
      within: { start, end: start + 1 },
      ...(isMeant && { hint, fix: { value: hint } }),
    });
  }
  return faults;
}

function variableFaults(path: string, gluedVariables: boolean): PathFault[] {
  if (!path.includes('{') && !path.includes('}')) return [];
  const faults: PathFault[] = [];
  const names = new Set<string>();
  const segments = path.split('/');
  let next = 0;
  segments.forEach((segment, index) => {
    const offset = next;
    next += segment.length + 1;
    if (!segment.includes('{') && !segment.includes('}')) return;
    const variable = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(segment);
    if (!variable) {
      const several = /^[^{}]*(?:\{[^{}]*\}[^{}]*){2,}$/.test(segment);
      const problem = several ? 'holds more than one variable' : "has a '{' or '}' without its counterpart";
      const within = { start: offset, end: offset + segment.length };
      faults.push({ message: `path '${path}': the segment '${segment}' ${problem}`, within });
      return;
    }
    const [, before, name, after] = variable as unknown as [string, string, string, string];
    const isLast = index === segments.length - 1;
    const start = offset + before.length;
    const within = { start, end: start + name.length + 2 };
    if (!VARIABLE_NAME.test(name)) {
      faults.push({
        message: `path '${path}': '{${name}}' is not a variable: names take letters, digits, '-' and '_'`,
        within,
      });
    } else if (names.has(paramKey(name))) {
      faults.push({ message: `path '${path}': duplicate variable '{${name}}'`, within });
    }
    names.add(paramKey(name));
    if (before === '' && after === '') return;
    if (!gluedVariables) {
      const message = `path '${path}': '{${name}}' must fill a whole segment unless disable_rest is true`;
      faults.push({ message, within });
    } else if (after !== '' || !isLast) {
      faults.push({ message: `path '${path}': '{${name}}' inside a word must be the last thing of the path`, within });
    }
  });
  return faults;
}
