/**
 * A path as git stores it: arbitrary bytes, each as one character. So callers can compare, store and return any name
 * unchanged, even one that is no text.
 */
export type RawPath = string

export function rawPath(bytes: Uint8Array): RawPath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export function rawPathBytes(path: RawPath): Buffer {
  return Buffer.from(path, 'latin1')
}

/** Returns true if the path is valid UTF-8, which converts to a string and back without a change. */
export function isUtf8(path: RawPath): boolean {
  const bytes = rawPathBytes(path)
  return bytes.equals(Buffer.from(bytes.toString()))
}

/** Returns the path on disk, below this folder. */
export function joinBelow(folder: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), rawPathBytes(path)])
}

/** Joins paths in the form that git reads and writes with -z: a NUL ends each. */
export function joinRawPaths(paths: readonly RawPath[]): Buffer {
  return rawPathBytes(paths.map(path => `${path}\0`).join(''))
}

export function splitRawPaths(bytes: Uint8Array): RawPath[] {
  return rawPath(bytes).split('\0').slice(0, -1)
}

/** Returns the path for people: text on one line, whatever its bytes. */
export function displayPath(path: RawPath): string {
  return rawPathBytes(path)
    .toString()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?')
}

/** Encodes the path as one word of plain ASCII; `decodeRawPath` returns the path. */
export function encodeRawPath(path: RawPath): string {
  return path.replaceAll(/[^A-Za-z0-9_./-]/g, byte => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

export function decodeRawPath(word: string): RawPath {
  return word.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Returns the folders of the path, outermost first. */
export function parentFolders(path: RawPath): RawPath[] {
  const folders: RawPath[] = []
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) folders.push(path.slice(0, end))
  return folders
}
