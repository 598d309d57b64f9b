import { isUtf8, rawPathBytes, splitRawPaths } from '../../../lib/text/raw-path.ts'

/** One setting of git's configuration. */
export interface ConfigSetting {
  /** True if only the user can write its file. */
  readonly isUserScope: boolean
  /** The file of the setting; null if it has none. */
  readonly file: string | null
  readonly key: string
  readonly value: string
  /** True if its bytes are text: we cannot pass others back to git unchanged. */
  readonly isText: boolean
}

/** Prints all settings in the format that `parseSettings` reads. */
export const LIST_SETTINGS = ['config', '--show-scope', '--show-origin', '--includes', '--list', '-z'] as const

/** Scopes that only the user can write. */
const USER_SCOPES = new Set(['system', 'global'])

/** Parses `SCOPE<NUL>file:ORIGIN<NUL>KEY<LF>VALUE<NUL>`; a setting without a value has no line end. */
export function parseSettings(output: Buffer): ConfigSetting[] {
  const words = splitRawPaths(output)
  const settings: ConfigSetting[] = []
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [scope = '', raw = '', entry = ''] = words.slice(at, at + 3)
    const [origin, text] = [raw, entry].map(word => rawPathBytes(word).toString()) as [string, string]
    const isText = [raw, entry].every(isUtf8)
    const end = endOfKey(text)
    const file = origin.startsWith('file:') ? origin.slice('file:'.length) : null
    settings.push({
      isUserScope: USER_SCOPES.has(scope),
      file,
      key: text.slice(0, end),
      value: text.slice(end + 1),
      isText,
    })
  }
  return settings
}

/** No name of a section or setting contains a line end. */
function endOfKey(text: string): number {
  const end = text.indexOf('\n')
  return end < 0 ? text.length : end
}
