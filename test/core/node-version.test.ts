import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { refuseOldNode } from '../../src/store/open.ts';
import { errorOf } from '../support/error-of.ts';

const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the version of Node', () => {
  test.each(['24.15.0', '24.21.0', '25.0.0', '100.1.0'])('%s is new enough', (node) => {
    expect(() => refuseOldNode({ node })).not.toThrow();
  });

  test.each(['18.20.8', '20.20.2', '22.22.0', '24.14.1', '24.2.0'])('%s is too old', (node) => {
    const { code, message } = errorOf(() => refuseOldNode({ node }));
    expect(code).toBe('unsupported-platform');
    expect(message).toBe(`queuectl needs Node 24.15 or later, and this is Node ${node}`);
  });

  test('does not matter in Bun', () => {
    expect(() => refuseOldNode({ node: '22.0.0', bun: '1.4.4' })).not.toThrow();
  });

  test('that package.json requires is 24.15 or later', () => {
    expect(engines).toEqual({ node: '>=24.15' });
  });
});
