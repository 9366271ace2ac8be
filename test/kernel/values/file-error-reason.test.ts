import { equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileErrorReason, unreadableFile } from '../../../kernel/contract/internal.ts';

const failure = (path: string): unknown => {
  try {
    return readFileSync(path);
  } catch (error) {
    return error;
  }
};

describe('the reason why a file cannot be read', () => {
  it('is given for a missing file', () => equal(fileErrorReason(failure('/nowhere/a.pem')), 'no such file'));
  it('is given for a directory', () => equal(fileErrorReason(failure(import.meta.dirname)), 'is a directory'));
  it('is given for a path through a file', () =>
    equal(fileErrorReason(failure(`${import.meta.filename}/a.pem`)), 'a part of the path is not a directory'));
  it('is given for missing permission', () =>
    equal(fileErrorReason(Object.assign(new Error('x'), { code: 'EACCES' })), 'permission denied'));
  it('names the want of file descriptors', () => {
    for (const code of ['EMFILE', 'ENFILE']) {
      match(
        fileErrorReason(Object.assign(new Error('x'), { code })),
        new RegExp(`out of file descriptors \\(${code}\\)`),
      );
    }
  });
  it('is the message of the file system for other errors', () => {
    equal(fileErrorReason(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })), 'EIO: i/o error');
    equal(fileErrorReason(Object.assign(new Error('odd'), { code: 'constructor' })), 'odd');
    equal(fileErrorReason('odd'), 'odd');
  });
  it('comes with the place that a relative path led to: the working directory is where it begins', () => {
    const cause = failure('nowhere/a.pem');
    equal(
      unreadableFile('nowhere/a.pem', cause),
      `cannot read nowhere/a.pem (${resolve('nowhere/a.pem')}): no such file`,
    );
    equal(unreadableFile('/nowhere/a.pem', cause), 'cannot read /nowhere/a.pem: no such file');
  });
});
