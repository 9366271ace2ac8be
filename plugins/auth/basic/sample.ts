const name = 'sample';
const password = 'sluice-sample';

/** A user that only sandboxes have, with a hash that takes little time. */
export const sampleUsers = { [name]: '$2b$04$63gMyWp4YEpKLmG4AaGcb.9.owYk3xGme9/BxAh5ff2RvdNi0egEC' };

export const sampleCredentials = {
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
};
