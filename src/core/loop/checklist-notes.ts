/** What an item's line says about its place: `(after 2, 3)`, `<!-- after: "title" -->`, `<!-- group: 2 -->`. */
export interface Notes {
  /** The title without what stands there only for the order. */
  readonly bare: string
  readonly names: readonly string[]
  readonly group: number | null
}

const AT_END = /\((?:after|depends on)(?=[\s:#"“])((?:"[^"]*"|“[^”]*”|[^()"“])*)\)[\s.]*$/i

/** Characters of a note; nobody writes a longer one, and the expressions take the square of its length. */
const LONGEST = 2_000

export function notesOf(title: string, all: readonly string[]): Notes {
  const comments = all.filter(({ length }) => length <= LONGEST)
  const begin = Math.max(0, title.length - LONGEST)
  const note = AT_END.exec(title.slice(begin))
  const names = comments.flatMap(comment => namesIn(/^(?:after|depends on)\s*:(.*)$/is.exec(comment)?.[1] ?? ''))
  const groups = comments.flatMap(comment => /^(?:parallel[ _])?group\s*:\s*(\d{1,9})$/i.exec(comment)?.[1] ?? [])
  return {
    bare: note === null ? title : title.slice(0, begin + note.index).trim() || title,
    names: [...namesIn((note?.[1] ?? '').trimStart().replace(/^:/, '')), ...names],
    group: groups[0] === undefined ? null : Number(groups[0]),
  }
}

/** Names between commas; what is in quotation marks is one name, whatever is in it. */
function namesIn(text: string): string[] {
  const parts = text.match(/(?:"[^"]*"|“[^”]*”|[^,;"“])+/g) ?? []
  return parts
    .flatMap(part => (/^[\s\d#]+(?:(?:and|&)[\s\d#]+)+$/i.test(part) ? part.split(/and|&/i) : [part]))
    .map(part => part.trim().replace(/^(?:and|&)\s+/i, ''))
    .map(part => /^["“](.*)["”]$/s.exec(part)?.[1]?.trim() ?? part)
    .filter(part => part !== '')
}
