import { type RawPath, isUtf8, rawPathBytes } from '../../lib/text/raw-path.ts'

/** No system accepts longer paths. */
const MAX_PATH_LENGTH = 4_096
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/
/** HFS+ ignores these when it compares names, so that `.g\u200cit` is `.git` there. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Returns true if a path stays within a working tree on every file system: it is relative, it is text, it has no `..`,
 * and no part is a name that some system takes for `.git`.
 */
export function isTreePath(path: RawPath): boolean {
  const text = rawPathBytes(path).toString()
  if (path === '' || path.length > MAX_PATH_LENGTH || CONTROLS.test(text) || !isUtf8(path)) return false
  return text.split('/').every(isPathPart) && !text.split(/[/\\]/).some(isReserved)
}

function isPathPart(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..'
}

/**
 * NTFS takes a backslash for a separator, drops dots and spaces at the end, and reads a stream's name after a colon.
 */
function isReserved(part: string): boolean {
  const name = part
    .replaceAll(IGNORED_BY_HFS, '')
    .replace(/:.*$/s, '')
    .replace(/(?<![. ])[. ]+$/, '')
    .toLowerCase()
  return name === '.git' || /^git~\d+$/.test(name) || /^\.+$/.test(part)
}
