/** Returns a number of rounds or a size: small in `npm test` and `npm run test:all`, large in `npm run attack`. */
export function attackSize(short: number, full: number): number {
  return process.env['ONESHOT_ATTACK'] === 'full' ? full : short
}
