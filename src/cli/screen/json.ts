/** One document, indented: it is read by people as often as by programs. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
