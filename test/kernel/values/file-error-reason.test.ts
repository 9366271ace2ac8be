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

describe('the stated reason why a file cannot be read', () => {
  it('is "no such file" for a missing file', () => equal(fileErrorReason(failure('/nowhere/a.pem')), 'no such file'));
  it('names a directory', () => equal(fileErrorReason(failure(import.meta.dirname)), 'is a directory'));
  it('names a path through a file', () =>
    equal(fileErrorReason(failure(`${import.meta.filename}/a.pem`)), 'a part of the path is not a directory'));
  it('names missing permission', () =>
    equal(fileErrorReason(Object.assign(new Error('x'), { code: 'EACCES' })), 'permission denied'));
  it('names a lack of file descriptors', () => {
    for (const code of ['EMFILE', 'ENFILE']) {
      match(
        fileErrorReason(Object.assign(new Error('x'), { code })),
        new RegExp(`out of file descriptors \\(${code}\\)`),
      );
    }
  });
  it('is the error message of the operating system in all other cases', () => {
    equal(fileErrorReason(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })), 'EIO: i/o error');
    equal(fileErrorReason(Object.assign(new Error('odd'), { code: 'constructor' })), 'odd');
    equal(fileErrorReason('odd'), 'odd');
  });
  it('includes the absolute path of a relative one', () => {
    const cause = failure('nowhere/a.pem');
    equal(
      unreadableFile('nowhere/a.pem', cause),
      `cannot read nowhere/a.pem (${resolve('nowhere/a.pem')}): no such file`,
    );
    equal(unreadableFile('/nowhere/a.pem', cause), 'cannot read /nowhere/a.pem: no such file');
  });
});
