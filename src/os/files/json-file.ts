import { decodeRecord, InvalidData, NewerVersion, parseJson, type Parser, type RecordFormat } from '../../lib/codec.ts'
import { hasCode, Trouble } from '../../lib/errors.ts'
import { readRegularFile } from './file-io.ts'

/**
 * Reads a record that nobody can create again. Returns undefined if the file does not exist. Throws `Trouble` if it is
 * damaged, or if a newer version wrote it: the caller must not continue as if there were none. The file stays as it is.
 */
export function readRecordFile<T>(file: string, format: RecordFormat<T>, maxSize: number): T | undefined {
  return readDecoded(file, text => decodeRecord(format, text), maxSize)
}

/** Like `readRecordFile`, for a file whose whole content is a list or a map, which has no version. */
export function readJsonFile<T>(file: string, parse: Parser<T>, maxSize: number): T | undefined {
  return readDecoded(file, text => parseJson(text, parse), maxSize)
}

/** Reads a file that oneshot can create again: returns null if it does not exist, is damaged or has another form. */
export function readJsonCache<T>(file: string, parse: Parser<T>, maxSize: number): T | null {
  try {
    return readJsonFile(file, parse, maxSize) ?? null
  } catch {
    return null
  }
}

function readDecoded<T>(file: string, decode: (text: string) => T, maxSize: number): T | undefined {
  try {
    return decode(readRegularFile(file, maxSize).content.toString())
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause: unknown): Trouble {
  const doing = `reading ${file}`
  if (!(cause instanceof InvalidData)) return new Trouble(doing, cause)
  const why = cause instanceof NewerVersion ? cause.message : `it is damaged: ${cause.message}`
  return new Trouble(doing, `${why}; the file is kept as it is`, { mayHelpToRetry: false })
}
