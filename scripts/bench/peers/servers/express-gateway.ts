import { createRequire } from 'node:module';

const [packages = '', folder = ''] = process.argv.slice(2);
process.env['LOG_LEVEL'] = 'error';
createRequire(`${packages}/package.json`)('express-gateway')().load(folder).run();
