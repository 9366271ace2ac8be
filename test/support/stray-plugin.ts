import { connect } from 'node:net';

/** Takes the place of a plugin's file, and raises an error later. */
export function failLater(how: string): void {
  if (how === 'throw') {
    setTimeout(() => {
      throw new TypeError('late');
    });
  }
  if (how === 'reject') void Promise.reject(new TypeError('stray'));
  if (how === 'text') void Promise.reject('a text');
  // Raises an error whose stack contains no file.
  if (how === 'socket') connect({ port: 1, host: '127.0.0.1' });
}
