/**
 * Whether a path matches a pattern: `*` and `?` within a name, `**` over folders, `[ab]`, `{a,b}`. A pattern that names a folder
 * matches all that lies in it.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const plain = pattern.replace(/^\.\//, '').replace(/\/+$/, '')
  return plain === '' || plain === '.' || compiled(plain).test(path)
}

/** A pattern that matches this path and what lies in it, and nothing else. A character that no sentence can show is any character. */
export function literalGlob(path: string): string {
  return path.replaceAll(/[*?[{]/g, '[$&]').replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')
}

const known = new Map<string, RegExp>()

function compiled(pattern: string): RegExp {
  const found = known.get(pattern) ?? new RegExp(`^${translate(pattern)}(?:/.*)?$`, 's')
  known.set(pattern, found)
  return found
}

function translate(pattern: string): string {
  return pattern.replaceAll(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[[^\]/]*\]|[^*?{}[\]]+|./gs, piece => {
    if (piece === '**/') return '(?:.*/)?'
    if (piece === '**') return '.*'
    if (piece === '*') return '[^/]*'
    if (piece === '?') return '[^/]'
    if (piece.length > 1 && piece.startsWith('{')) return `(?:${piece.slice(1, -1).split(',').map(escaped).join('|')})`
    if (piece.length > 2 && piece.startsWith('['))
      return `[${piece.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
    return escaped(piece)
  })
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
