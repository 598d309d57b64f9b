// The globals that the pure rooms may use beyond the language itself. `tsconfig.pure.json` has no other types, so that
// no clock, no disk, no network and no process can reach these rooms.

/** Bytes, and the searches in them that a Uint8Array lacks. */
declare class Buffer extends Uint8Array<ArrayBuffer> {
  static from(text: string, encoding?: 'utf8' | 'latin1' | 'base64'): Buffer
  static from(buffer: ArrayBufferLike, offset: number, length: number): Buffer
  static alloc(size: number): Buffer
  static concat(list: readonly Uint8Array[]): Buffer
  equals(other: Uint8Array): boolean
  indexOf(value: string | number | Uint8Array, from?: number): number
  lastIndexOf(value: string | number | Uint8Array, from?: number): number
  subarray(start?: number, end?: number): Buffer
  toString(encoding?: 'utf8' | 'latin1' | 'base64', start?: number, end?: number): string
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(bytes?: Uint8Array): string
}

declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>
}

/** Tells an action that its caller no longer wants it. */
interface AbortSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(): void
}

/** A hash is a function of its input. */
declare module 'node:crypto' {
  interface Hash {
    update(text: string): Hash
    digest(encoding: 'hex'): string
  }
  const crypto: { createHash(algorithm: 'sha256'): Hash }
  export default crypto
}
