/**
 * A name that nobody can foresee. It uses the global Web Crypto object, which Node loads at its first use: `node:crypto` takes
 * several milliseconds, and most commands write no file.
 */
export function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
