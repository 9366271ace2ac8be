/** Names that a generated module declares itself, global types that it uses, and names that a type cannot have. */
const reserved = [
  ...['Blob', 'BodyInit', 'Client', 'ClientOptions', 'Error', 'Fetch', 'Headers', 'Operation', 'Promise', 'QueryValue'],
  ...['ReadableStream', 'Readonly', 'Record', 'RequestInit', 'RequestOptions', 'Response', 'Sent', 'String', 'URL'],
  ...['URLSearchParams', 'Uint8Array', 'UnexpectedResponse'],
];

/** Names of members that would change the meaning of an object: a promise, or a member of its prototype. */
const members = ['then', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

/** Unique names of the types and functions of a generated module. */
export class Names {
  readonly #types = new Set(reserved);
  readonly #functions = new Set(members);

  /** A type name, such as `GetUsersUserRequest`. */
  type(text: string): string {
    return take(this.#types, capital(identifier(text)));
  }

  /** A function name, such as `getUsersUser` for `GET/users/{user}`. */
  function(text: string): string {
    return take(this.#functions, identifier(text));
  }
}

function take(taken: Set<string>, wished: string): string {
  let name = wished;
  for (let count = 2; taken.has(name); count++) name = `${wished}${count}`;
  taken.add(name);
  return name;
}

/** Joins the words of a text in camel case. */
function identifier(text: string): string {
  const [first = '', ...others] = text.split(/[^A-Za-z\d]+/).filter((word) => word !== '');
  const start = /^[A-Z\d]+$/.test(first) ? first.toLowerCase() : first.charAt(0).toLowerCase() + first.slice(1);
  const joined = start + others.map(capital).join('');
  return /^[a-z]/i.test(joined) ? joined : `_${joined}`;
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
