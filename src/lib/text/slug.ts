/** Derives a short name in [a-z0-9-] from any text: at most four words and 28 characters. */
export function slugify(text: string, fallback: string): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  let name = ''
  for (const word of words.slice(0, 4)) {
    const longer = name === '' ? word.slice(0, 28) : `${name}-${word}`
    if (longer.length > 28) break
    name = longer
  }
  return name === '' ? fallback : name
}
