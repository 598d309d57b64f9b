/** Returns a number of rounds: small in `npm test`, large in `npm run test:all`. */
export function testSize(short: number, all: number): number {
  return process.env['ONESHOT_TESTS'] === 'all' ? all : short
}
