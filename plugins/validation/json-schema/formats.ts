import addFormats from 'ajv-formats';

const withRegExp = (pattern: RegExp) => (text: string) => pattern.test(text);

/** Formats by name: whether a text has it. Names not listed are no formats and check nothing. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ...['date', 'time', 'date-time', 'hostname', 'email', 'ipv4', 'ipv6', 'uri', 'uri-reference'].map(published),
  ...['uri-template', 'regex', 'json-pointer', 'relative-json-pointer'].map(published),
  ['uuid', withRegExp(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i)],
  // An internationalised name is one whose characters beyond ASCII could be ordinary ones.
  ['idn-email', viaAscii('email', 'a')],
  ['iri', viaAscii('uri', '%AA')],
  ['iri-reference', viaAscii('uri-reference', '%AA')],
]);

function viaAscii(name: string, substitute: string): (text: string) => boolean {
  const [, test] = published(name);
  return (text) => test(text.replace(/[^\0-\x9f]/gu, substitute));
}

function published(name: string): [string, (text: string) => boolean] {
  const format = addFormats.default.get(name as Parameters<typeof addFormats.default.get>[0]);
  if (format instanceof RegExp) return [name, withRegExp(format)];
  if (typeof format === 'function') return [name, format];
  const { validate } = format as { validate: RegExp | ((text: string) => boolean) };
  return [name, validate instanceof RegExp ? withRegExp(validate) : validate];
}
