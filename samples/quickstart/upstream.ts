import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

const users: Readonly<Record<string, object>> = {
  '1': { id: 1, name: 'Ada', email: 'ada@example.test', company: { id: 7, name: 'Engines' } },
  '2': { id: 2, name: 'Grace', email: 'grace@example.test', company: { id: 8, name: 'Compilers' } },
};

const posts = [
  { id: 10, title: 'Notes', draft: false },
  { id: 11, title: 'Bernoulli numbers', draft: true },
];

/** A small API for the quickstart to call: users, their posts, their cart, and orders that can be placed. */
export function createUpstream(): Server {
  return createServer((request, response) => {
    const [, kind = '', id = '', part] = new URL(request.url!, 'http://upstream').pathname.split('/');
    const user = users[id];
    if (kind === 'orders' && request.method === 'POST') return placeOrder(request, response);
    if (kind === 'companies')
      return answer(response, 200, { id: Number(id), city: id === '7' ? 'London' : 'Arlington' });
    if (kind !== 'users' || !user) return answer(response, 404, { error: 'not found' });
    if (part === 'posts') return answer(response, 200, posts);
    if (part === 'cart') return answer(response, 200, { items: 3, total: 59.97, currency: 'EUR' });
    answer(response, 200, user);
  });
}

async function placeOrder(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += chunk;
  answer(response, 201, { order: 1001, received: JSON.parse(text) });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
