import { bytesOf, isUtf8, type RawPath } from '../../lib/raw-path.ts'

/** Longer ones no system takes. */
const LONGEST = 4_096
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/
/** HFS+ leaves these out of a name when it compares two, so that `.g\u200cit` is `.git` there. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Whether a path leads to something within a working tree, on every file system: relative, as text, without a way up, and not
 * into a repository's own folder under any of the names by which a system would take it for that.
 */
export function isTreePath(path: RawPath): boolean {
  const text = bytesOf(path).toString()
  if (path === '' || path.length > LONGEST || CONTROLS.test(text) || !isUtf8(path)) return false
  return text.split('/').every(isName) && !text.split(/[/\\]/).some(isReserved)
}

function isName(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..'
}

/** NTFS takes a backslash for a separator, leaves out dots and spaces at the end, and reads a stream's name after a colon. */
function isReserved(part: string): boolean {
  const name = part
    .replaceAll(IGNORED_BY_HFS, '')
    .replace(/:.*$/s, '')
    .replace(/(?<![. ])[. ]+$/, '')
    .toLowerCase()
  return name === '.git' || /^git~\d+$/.test(name) || /^\.+$/.test(part)
}
